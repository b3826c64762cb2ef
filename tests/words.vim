" What editors/vim colours: words.vim writes the tokens of $TOKENS, as
" build/tests/tokens said them, with Vim's classes into $FOUND.
set nocompatible
set runtimepath^=editors/vim
filetype plugin indent on
syntax on
let classes = {'logic': 'keyword', 'boolean': 'keyword', 'join': 'operator',
  \ 'key': 'option', 'fork': 'keyword', 'head': 'keyword', 'input': 'label',
  \ 'headlayer': 'layer'}
let found = []
for row in readfile($TOKENS)
  let [first, second, expected] = split(row)
  if expected ==# 'file'
    execute 'silent edit' fnameescape(first)
    call add(found, row)
    continue
  endif
  let byte = byteidx(getline(first), second - 1) + 1
  let group = synIDattr(synID(first, byte, 1), 'name')
  let class = tolower(substitute(group, '^netc', '', ''))
  if index(['comment', 'keyword', 'operator', 'number', 'string', 'layer',
    \ 'function', 'option', 'def', 'label'], get(classes, class, class)) < 0
    let classes[class] = 'name'
  endif
  call add(found, join([first, second, get(classes, class, class)]))
endfor
call writefile(found, $FOUND)
quitall!
