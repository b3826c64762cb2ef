;;; netc-mode.el --- Major mode for netc's .net files  -*- lexical-binding: t -*-

;; Made from netc-mode.el.in and the tables of netc: make docs.
;; Version: 0.1.0
;; Package-Requires: ((emacs "26.1"))
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Colours, comments and indents.  With eglot also what `netc lsp' knows:
;;   (add-to-list 'eglot-server-programs '(netc-mode "netc" "lsp"))

;;; Code:

(defconst netc-mode-keywords
  (split-string "
    net input fork from again output def let param repeat for in if else use
    train infer budget
    and or not
"))

(defconst netc-mode-layers
  (split-string "
    conv dwconv deconv deformconv local pool avgpool gap gmp adaptpool
    adaptmaxpool unpool roialign roipool mean sum fc linear bn instnorm gn
    ln rmsnorm lrn l2norm relu relu6 leaky elu selu celu prelu gelu glu silu
    mish sigmoid hsigmoid hswish tanh softplus softsign hardtanh softmax
    logsoftmax identity sqrt exp log sin cos abs neg pow dropout droppath
    flatten reshape permute slice split crop detach topk gather pad roll
    shuffle pixelshuffle space2depth unfold up gridsample scale affine
    weight add sub mul div max min concat stack matmul embed posembed
    distances token attention mla cached deformattn moe ssm deltanet rnn
    lstm gru convlstm
"))

(defconst netc-mode-options
  (split-string "
    pad bias nobias wnorm spectral ws gain dora ceil indices aligned keep
    noaffine within shared causal smallest zeros reflect replicate circular
    nearest bilinear bicubic border reflection corners fixed list transpose
    buffer rope packed views sbhd noout noqueries novalues uncached vnorm
    qknorm qkln sinks talking fused naive bidir batch_first last keepcell
    frozen
"))

(defconst netc-mode-heads
  (split-string "
    freeze checkpoint error warn allow
"))

(defconst netc-mode-choosers
  (split-string "
    lora_dtype approximate bias gate scale lora_on scores norm decay reset
    inplace dtype like optimizer update clip paged ema precision
    gradient_dtype saved_dtype base loss loss_dtype rule norms attention
    profile glu keep_gradients keep_outputs checkpoint gpu gather unit
    reshard prefetch bucket offload moe sequence_parallel keep_gathered
    flat_gather schedule cut runtime board weight_dtype fold fuse overlap
    patches stream cache cache_v state_dtype step flash sampler gpu_layers
    tensor_split host_experts fits
"))

(defconst netc-mode-functions
  (split-string "
    min max floor ceil round sqrt log2 divisible
"))

(defconst netc-mode-constants
  (split-string "
    true false
"))

(defconst netc-mode--name "\\(?:[A-Za-z_][A-Za-z0-9_]*\\)")

(defun netc-mode--words (words)
  "A pattern for WORDS, each whole."
  (concat "\\_<" (regexp-opt words) "\\_>"))

(defconst netc-mode--head
  (concat "\\(?:^\\|[{;]\\)[ \t]*"
          "\\(?:\\(fork\\(?:[ \t]+train\\)?\\)\\_>[ \t]*\\)?"
          "\\(?:\\(" netc-mode--name "\\)\\(?:\\[[^]\n]*\\]\\)*[ \t]*:[ \t]*\\)?"
          "\\(?:" (regexp-opt netc-mode-layers t) "\\_>\\|"
          (regexp-opt netc-mode-heads t) "\\_>\\)?")
  "What a statement begins with: `fork', a label, its first word.")

(defun netc-mode--continued (begin)
  "Whether the line before that at BEGIN goes on there."
  (save-excursion
    (goto-char begin)
    (and (zerop (forward-line -1))
         (looking-at ".*\\\\[ \t]*\\(?:#.*\\)?$"))))

(defun netc-mode--begins (begin)
  "Whether a statement may begin at BEGIN: not inside brackets or a text."
  (let* ((state (save-excursion (syntax-ppss begin)))
         (open (nth 1 state)))
    (not (or (nth 8 state)
             (and open (memq (char-after open) '(?\[ ?\()))
             (and (not (memq (char-after begin) '(?\{ ?\;)))
                  (netc-mode--continued begin))))))

(defun netc-mode--statement (limit)
  "Find what a statement begins with, before LIMIT."
  (let (found)
    (while (and (not found) (< (point) limit)
                (re-search-forward netc-mode--head limit t))
      (if (< (match-beginning 0) (match-end 0))
          (setq found
                (save-match-data (netc-mode--begins (match-beginning 0))))
        (goto-char (min limit (1+ (point))))))
    found))

(defconst netc-mode-font-lock-keywords
  `((netc-mode--statement
     (1 font-lock-keyword-face nil t) (2 font-lock-constant-face nil t)
     (3 font-lock-function-name-face nil t) (4 font-lock-keyword-face nil t))
    (,(concat "\\_<\\(def\\)[ \t]+\\(" netc-mode--name "\\)")
     (1 font-lock-keyword-face) (2 font-lock-type-face))
    (,(concat "\\_<\\(let\\|net\\|output\\|from\\|again\\)[ \t]+\\("
              netc-mode--name "\\)")
     (1 font-lock-keyword-face) (2 'default))
    (,(concat "\\_<\\(input\\)[ \t]+\\(" netc-mode--name
              "\\)[ \t]+\\(?:[0-9(_]\\|[A-Za-wyz]\\|x[A-Za-z0-9_]\\)")
     (1 font-lock-keyword-face) (2 font-lock-constant-face))
    (,(netc-mode--words netc-mode-constants) . font-lock-keyword-face)
    (,(concat "\\_<" (regexp-opt netc-mode-choosers t) "=\\("
              netc-mode--name "\\)")
     (1 font-lock-variable-name-face) (2 'default))
    (,(concat "[^. \t\n]\\.\\(" netc-mode--name "\\)") (1 'default))
    (,(netc-mode--words netc-mode-keywords) . font-lock-keyword-face)
    ("[^ \t\n][ \t]+\\(step\\)[ \t]+[-0-9(]" (1 font-lock-keyword-face))
    (,(concat "\\(" netc-mode--name "\\)=\\(?:[^=]\\|$\\)")
     (1 font-lock-variable-name-face))
    (,(concat "\\_<" (regexp-opt netc-mode-functions t) "(")
     (1 font-lock-builtin-face))
    (,(concat (netc-mode--words netc-mode-options) "\\(?:[^[(.]\\|$\\)")
     (0 font-lock-preprocessor-face))
    (,(netc-mode--words netc-mode-layers) . font-lock-function-name-face))
  "What is coloured; what stands earlier counts.")

(defvar netc-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?\\ "." table)
    (dolist (sign '(?+ ?- ?* ?/ ?% ?= ?< ?>))
      (modify-syntax-entry sign "." table))
    table))

(defun netc-mode-indent-line ()
  "Indent as `netc fmt' does: two for a bracket, four after a backslash."
  (interactive)
  (let ((column
         (save-excursion
           (beginning-of-line)
           (let ((closes (looking-at "[ \t]*[])}]"))
                 (continued (netc-mode--continued (point)))
                 opens)
             (if (not (re-search-backward "[^ \t\n]" nil t))
                 0
               (beginning-of-line)
               (setq opens (looking-at "[^#\n]*[[{(][ \t]*\\(?:#.*\\)?$"))
               (while (netc-mode--continued (point))
                 (forward-line -1))
               (max 0 (+ (current-indentation)
                         (cond (continued 4) (opens 2) (t 0))
                         (if closes -2 0))))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode netc-mode prog-mode "netc"
  "Major mode for neural-network architectures as netc compiles them."
  (setq-local comment-start "# ")
  (setq-local comment-end "")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'netc-mode-indent-line)
  (setq-local font-lock-defaults '(netc-mode-font-lock-keywords)))

;; KiCad's netlists and Pajek's graphs end in .net, too.
;;;###autoload
(add-to-list 'magic-mode-alist
             '((lambda ()
                 (and buffer-file-name
                      (string-match-p "\\.net\\'" buffer-file-name)
                      (not (looking-at-p "[ \t\r\n]*[(*%<]"))))
               . netc-mode))

(provide 'netc-mode)
;;; netc-mode.el ends here
