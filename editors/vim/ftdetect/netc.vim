" KiCad's netlists, `(export ..`, and Pajek's graphs, `*Vertices 9`, end in
" .net, too; no statement of netc begins like that.
autocmd BufNewFile,BufRead *.net
  \ if getline(nextnonblank(1)) !~# '^\s*[(*%<]' | setfiletype netc | endif
