" Lines inside brackets stand a step further right, what goes on after a `\` two.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal indentexpr=NetcIndent(v:lnum) indentkeys=0{,0},0],0),!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*NetcIndent')
  finish
endif

" A line without texts and comments, and blanks at its end.
function s:Bare(line) abort
  return substitute(getline(a:line), '"[^"]*"\|\s*#.*$\|\s\+$', '', 'g')
endfunction

function NetcIndent(line) abort
  let above = prevnonblank(a:line - 1)
  let begin = above
  while begin > 1 && s:Bare(begin - 1) =~# '\\$'
    let begin -= 1
  endwhile
  if s:Bare(above) =~# '\\$'
    return indent(begin) + 2 * shiftwidth()
  endif
  let open = s:Bare(above) =~# '[{\[(]$'
  let close = getline(a:line) =~# '^\s*[}\])]'
  return max([0, indent(begin) + shiftwidth() * (open - close)])
endfunction
