;; What editors/emacs colours: words.el writes the tokens of $TOKENS, as
;; build/tests/tokens said them, with the classes of its faces into $FOUND.
(add-to-list 'load-path "editors/emacs")
(require 'netc-mode)

(defconst classes
  '((font-lock-comment-face . "comment") (font-lock-string-face . "string")
    (font-lock-comment-delimiter-face . "comment")
    (font-lock-keyword-face . "keyword") (font-lock-type-face . "def")
    (font-lock-function-name-face . "layer")
    (font-lock-builtin-face . "function")
    (font-lock-preprocessor-face . "option")
    (font-lock-variable-name-face . "option")
    (font-lock-constant-face . "label")))

;; Numbers and joins have no face in Emacs 28.
(defun class-at (line column kind)
  (goto-char (point-min))
  (forward-line (1- line))
  (forward-char (1- column))
  (let ((face (get-text-property (point) 'face)))
    (cond ((cdr (assq (if (consp face) (car face) face) classes)))
          ((member kind '("number" "operator")) kind)
          (t "name"))))

(let ((rows (with-temp-buffer
              (insert-file-contents (getenv "TOKENS"))
              (split-string (buffer-string) "\n" t)))
      found)
  (with-temp-buffer
    (netc-mode)
    (dolist (row rows)
      (pcase-let ((`(,first ,second ,kind) (split-string row)))
        (if (not (equal kind "file"))
            (push (format "%s %s %s" first second
                          (class-at (string-to-number first)
                                    (string-to-number second) kind))
                  found)
          (erase-buffer)
          (insert-file-contents first)
          (font-lock-ensure)
          (push row found)))))
  (with-temp-file (getenv "FOUND")
    (insert (mapconcat #'identity (nreverse found) "\n") "\n")))
