; What must not get out. A finding carries its pattern, so that what was found is what gets redacted. The cheap questions come
; first: an expression ends at the first part that is false.

(deftemplate finding
  (slot kind (type STRING)) (slot article (type STRING) (default "a")) (slot subject (type SYMBOL)) (slot pointer (type STRING)) (slot pattern (type STRING)))
(deftemplate mode (slot is (type SYMBOL)))

(defrule mode-by-default
  (not (setting (key "mode")))
  => (assert (mode (is redact))))
(defrule mode-halt
  (setting (key "mode") (value "halt"))
  => (assert (mode (is halt))))
(defrule mode-warn
  (setting (key "mode") (value "warn"))
  => (assert (mode (is warn))))
(defrule mode-redact
  (setting (key "mode") (value "redact"))
  => (assert (mode (is redact))))

(defrule social-security-number
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(and (str-index "-" ?text)
      (matches ?text "\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d\\d|6[0-57-9]\\d|66[0-57-9])-(?:0[1-9]|[1-9]\\d)-(?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d\\d\\d)\\b"))))
  =>
  (assert (finding (kind "social security number") (subject ?subject) (pointer ?pointer)
    (pattern "\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d\\d|6[0-57-9]\\d|66[0-57-9])-(?:0[1-9]|[1-9]\\d)-(?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d\\d\\d)\\b"))))

(defrule e-mail-address
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(and (str-index "@" ?text)
      (matches ?text "\\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z][A-Za-z]+\\b"))))
  =>
  (assert (finding (kind "e-mail address") (article "an") (subject ?subject) (pointer ?pointer)
    (pattern "\\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z][A-Za-z]+\\b"))))

; Thirteen to nineteen digits, possibly in groups, of which the last is the right check digit. No card begins with a digit outside of
; 2 to 6; times in milliseconds begin with 1, and every tenth of them has a right check digit.
(defrule payment-card
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(luhn-matches ?text "\\b[2-6](?:[ -]?\\d){12,18}\\b")))
  =>
  (assert (finding (kind "payment card") (subject ?subject) (pointer ?pointer)
    (pattern "\\b[2-6](?:[ -]?\\d){12,18}\\b"))))

(defrule phone-number
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(matches ?text "(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{3}\\) ?|\\b\\d{3}[ .-])\\d{3}[ .-]\\d{4}\\b")))
  =>
  (assert (finding (kind "phone number") (subject ?subject) (pointer ?pointer)
    (pattern "(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{3}\\) ?|\\b\\d{3}[ .-])\\d{3}[ .-]\\d{4}\\b"))))

(defrule halt
  (mode (is halt))
  (finding (kind ?kind) (article ?a) (subject ?subject) (pointer ?pointer))
  =>
  (assert (decision (action veto)
    (reason (str-cat "the " ?subject " holds " ?a " " ?kind " at \"" ?pointer "\""))
    (details kind ?kind subject ?subject pointer ?pointer))))

(defrule warn
  (mode (is warn))
  (finding (kind ?kind) (article ?a) (subject ?subject) (pointer ?pointer))
  =>
  (assert (decision (action annotate) (severity warning)
    (reason (str-cat "the " ?subject " holds " ?a " " ?kind " at \"" ?pointer "\""))
    (details kind ?kind subject ?subject pointer ?pointer))))

(defrule redact
  (mode (is redact))
  (finding (kind ?kind) (article ?a) (subject output) (pointer ?pointer) (pattern ?pattern))
  =>
  (assert (decision (action redact) (pointer ?pointer) (pattern ?pattern)
    (reason (str-cat "the output holds " ?a " " ?kind " at \"" ?pointer "\"")))))

(defrule warn-of-an-input
  (mode (is redact))
  (finding (kind ?kind) (article ?a) (subject input) (pointer ?pointer))
  =>
  (assert (decision (action annotate) (severity warning)
    (reason (str-cat "the input holds " ?a " " ?kind " at \"" ?pointer "\""))
    (details kind ?kind subject input pointer ?pointer))))
