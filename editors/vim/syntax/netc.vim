" Vim syntax file for netc's .net files.
" Made from netc.vim.in and the tables of netc: make docs.
" What is defined later wins, so rules go from the common to the special.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax sync fromstart

function! s:Words(group, pattern, more) abort
  execute 'syntax match' a:group '"\v' . a:pattern . '"' a:more
endfunction

" Arguments, and the tail of a statement.
call s:Words('netcSign', '[-+*/%<>=!]+|\.\.', '')
call s:Words('netcNumber', '\d[0-9A-Za-wyz_]*%(\.\.@![0-9A-Za-wyz_]*)?', '')
call s:Words('netcNumber', '\d[0-9_]*%(\.\d[0-9_]*)?[eE][+-]\d+', '')
call s:Words('netcAny', '_%([0-9A-Za-wyz_]|x\a)@!', '')
call s:Words('netcName', '<%(\a|_[0-9A-Za-wyz_]|_x\a)\w*', '')
call s:Words('netcLayer', '<%(conv|dwconv|deconv|deformconv|local|pool|avgpool|gap|gmp|adaptpool|adaptmaxpool|unpool|roialign|roipool|mean|sum|fc|linear|bn|instnorm|gn|ln|rmsnorm|lrn|l2norm|relu|relu6|leaky|elu|selu|celu|prelu|gelu|glu|silu|mish|sigmoid|hsigmoid|hswish|tanh|softplus|softsign|hardtanh|softmax|logsoftmax|identity|sqrt|exp|log|sin|cos|abs|neg|pow|dropout|droppath|flatten|reshape|permute|slice|split|crop|detach|topk|gather|pad|roll|shuffle|pixelshuffle|space2depth|unfold|up|gridsample|scale|affine|weight|add|sub|mul|div|max|min|concat|stack|matmul|embed|posembed|distances|token|attention|mla|cached|deformattn|moe|ssm|deltanet|rnn|lstm|gru|convlstm)>%(\s*[:\[.])@!', '')
call s:Words('netcOption', '<%(pad|bias|nobias|wnorm|spectral|ws|gain|dora|ceil|indices|aligned|keep|noaffine|within|shared|causal|smallest|zeros|reflect|replicate|circular|nearest|bilinear|bicubic|border|reflection|corners|fixed|list|transpose|buffer|rope|packed|views|sbhd|noout|noqueries|novalues|uncached|vnorm|qknorm|qkln|sinks|talking|fused|naive|bidir|batch_first|last|keepcell|frozen)>%([(\[.])@!', '')
call s:Words('netcFunction', '<%(min|max|floor|ceil|round|sqrt|log2|divisible)\(@=', '')
call s:Words('netcKey', '<\h\w*\=@=%(\=\=)@!', '')
call s:Words('netcKey', '<%(lora_dtype|approximate|bias|gate|scale|lora_on|scores|norm|decay|reset|inplace|dtype|like|optimizer|update|clip|paged|ema|precision|gradient_dtype|saved_dtype|base|loss|loss_dtype|rule|norms|attention|profile|glu|keep_gradients|keep_outputs|checkpoint|gpu|gather|unit|reshard|prefetch|bucket|offload|moe|sequence_parallel|keep_gathered|flat_gather|schedule|cut|runtime|board|weight_dtype|fold|fuse|overlap|patches|stream|cache|cache_v|state_dtype|step|flash|sampler|gpu_layers|tensor_split|host_experts|fits)\=@=', 'nextgroup=netcAssign')
call s:Words('netcAssign', '\=', 'contained nextgroup=netcValue')
call s:Words('netcValue', '%(<%(true|false)>)@!\h\w*', 'contained')
call s:Words('netcName', '\.\h\w*', '')
call s:Words('netcType', '\s:\s*\a\w*', '')
call s:Words('netcJoin', '[0-9A-Za-z_)\]]@1<=x%([0-9_(])@=', '')
call s:Words('netcJoin',
  \ '%([0-9A-Za-z_)\]]\s)@2<=x>%(\s*[-0-9A-Za-z_(])@=%(\s*\w+\=[^=])@!', '')

" Words of the scanner, and names that come after some of them.
call s:Words('netcKeyword', '<%(net|input|fork|from|again|output|def|let|param|repeat|for|in|if|else|use|train|infer|budget)>', '')
call s:Words('netcKeyword', '<step>%(\s*[-0-9(])@=', '')
call s:Words('netcLogic', '<%(and|or|not)>', '')
call s:Words('netcBoolean', '<%(true|false)>', '')
call s:Words('netcKeyword', '<%(let|net|output|from|again)>',
  \ 'nextgroup=netcNamed skipwhite')
call s:Words('netcNamed', '\h\w*', 'contained')
call s:Words('netcKeyword', '<%(param|for)>', 'nextgroup=netcNames skipwhite')
call s:Words('netcNames', '%(in>)@!\h\w*',
  \ 'contained nextgroup=netcNames skipwhite')
call s:Words('netcKeyword', '<input>', 'nextgroup=netcInput skipwhite')
call s:Words('netcInput', '%(in>)@!\h\w*%(\s+%(x>)@![(0-9A-Za-z_])@=',
  \ 'contained')
call s:Words('netcKeyword', '<def>', 'nextgroup=netcDef skipwhite')
call s:Words('netcDef', '\h\w*', 'contained')

" The beginning of a statement: `fork`, a label, then its first word.
syntax cluster netcFirst
  \ contains=netcCall,netcKeyword,netcHead,netcHeadLayer,netcLabel
call s:Words('netcBegin', '^%(\\\s*\n)@<!\s*|[{;]\s*',
  \ 'nextgroup=netcFork,@netcFirst')
call s:Words('netcFork', '<fork>%(\s+train>)?',
  \ 'contained nextgroup=@netcFirst skipwhite')
call s:Words('netcCall', '%(<%(net|input|fork|from|again|output|def|let|param|repeat|for|in|if|else|use|train|infer|budget)>)@!\h\w*', 'contained')
call s:Words('netcHeadLayer', '<%(conv|dwconv|deconv|deformconv|local|pool|avgpool|gap|gmp|adaptpool|adaptmaxpool|unpool|roialign|roipool|mean|sum|fc|linear|bn|instnorm|gn|ln|rmsnorm|lrn|l2norm|relu|relu6|leaky|elu|selu|celu|prelu|gelu|glu|silu|mish|sigmoid|hsigmoid|hswish|tanh|softplus|softsign|hardtanh|softmax|logsoftmax|identity|sqrt|exp|log|sin|cos|abs|neg|pow|dropout|droppath|flatten|reshape|permute|slice|split|crop|detach|topk|gather|pad|roll|shuffle|pixelshuffle|space2depth|unfold|up|gridsample|scale|affine|weight|add|sub|mul|div|max|min|concat|stack|matmul|embed|posembed|distances|token|attention|mla|cached|deformattn|moe|ssm|deltanet|rnn|lstm|gru|convlstm)>', 'contained')
call s:Words('netcHead', '<%(freeze|checkpoint|error|warn|allow)>', 'contained')
call s:Words('netcLabel', '\h\w*%(%(\[[^]]*\])*\s*:)@=',
  \ 'contained nextgroup=netcIndex,netcColon skipwhite')
call s:Words('netcColon', ':', 'contained nextgroup=@netcFirst skipwhite')

syntax match netcEscape contained "{{\|}}"
syntax match netcHole contained "{[^{}\"]*}"
syntax region netcString start=+"+ end=+"+ oneline contains=netcEscape,netcHole
syntax match netcComment "#.*$" contains=@Spell

" Inside these no line begins a statement.
syntax region netcList matchgroup=netcBracket start="\[" end="\]" transparent
  \ contains=TOP,netcBegin
syntax region netcParens matchgroup=netcBracket start="(" end=")" transparent
  \ contains=TOP,netcBegin
syntax region netcIndex matchgroup=netcBracket start="\[" end="\]"
  \ transparent contained
  \ contains=TOP,netcBegin nextgroup=netcIndex,netcColon skipwhite

highlight default link netcSign Operator
highlight default link netcNumber Number
highlight default link netcAny Special
highlight default link netcLayer Function
highlight default link netcHeadLayer netcLayer
highlight default link netcOption PreProc
highlight default link netcFunction Function
highlight default link netcKey Identifier
highlight default link netcValue Constant
highlight default link netcType Type
highlight default link netcLabel Label
highlight default link netcInput netcLabel
highlight default link netcKeyword Statement
highlight default link netcHead netcKeyword
highlight default link netcFork netcKeyword
highlight default link netcLogic Operator
highlight default link netcBoolean Boolean
highlight default link netcDef Define
highlight default link netcJoin Operator
highlight default link netcEscape SpecialChar
highlight default link netcHole Special
highlight default link netcString String
highlight default link netcComment Comment

let b:current_syntax = 'netc'
