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

; Three, two and four digits as the administration gives them out, with dashes or spaces between them.
(defrule social-security-number
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(matches ?text "\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d\\d|6[0-57-9]\\d|66[0-57-9])[ \\x{2010}-\\x{2015}-](?:0[1-9]|[1-9]\\d)[ \\x{2010}-\\x{2015}-](?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d\\d\\d)\\b")))
  =>
  (assert (finding (kind "social security number") (subject ?subject) (pointer ?pointer)
    (pattern "\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d\\d|6[0-57-9]\\d|66[0-57-9])[ \\x{2010}-\\x{2015}-](?:0[1-9]|[1-9]\\d)[ \\x{2010}-\\x{2015}-](?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d\\d\\d)\\b"))))

; Letters of any script; the last part of the domain is two letters or more, so a version (react@18.2.0) is none.
(defrule e-mail-address
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(and (str-index "@" ?text)
      (matches ?text "[A-Za-z0-9\\x{80}-\\x{10FFFF}._%+'-]+@(?:[A-Za-z0-9\\x{80}-\\x{10FFFF}-]+\\.)+(?:xn--[A-Za-z0-9-]+|[A-Za-z\\x{80}-\\x{10FFFF}]{2,})"))))
  =>
  (assert (finding (kind "e-mail address") (article "an") (subject ?subject) (pointer ?pointer)
    (pattern "[A-Za-z0-9\\x{80}-\\x{10FFFF}._%+'-]+@(?:[A-Za-z0-9\\x{80}-\\x{10FFFF}-]+\\.)+(?:xn--[A-Za-z0-9-]+|[A-Za-z\\x{80}-\\x{10FFFF}]{2,})"))))

; Thirteen to nineteen digits together, in fours, or 4-6-5 and 4-6-4, of which the last is the right check digit. Cards begin with 22 to 27
; or 3 to 6: times in milliseconds begin with 1 and compact dates with 20, and every tenth of them has a right check digit.
(defrule payment-card
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(luhn-matches ?text "\\b(?:2[2-7]|[3-6]\\d)(?:\\d{11,17}|\\d\\d(?:[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{4}){3}(?:[ .\\x{A0}\\x{2010}-\\x{2015}-]?\\d{1,3})?|\\d\\d[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{6}[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{4,5})\\b")))
  =>
  (assert (finding (kind "payment card") (subject ?subject) (pointer ?pointer)
    (pattern "\\b(?:2[2-7]|[3-6]\\d)(?:\\d{11,17}|\\d\\d(?:[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{4}){3}(?:[ .\\x{A0}\\x{2010}-\\x{2015}-]?\\d{1,3})?|\\d\\d[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{6}[ .\\x{A0}\\x{2010}-\\x{2015}-]\\d{4,5})\\b"))))

; With a country's code after `+`, eight digits or more; or as in North America, where no area and no exchange begins with 0 or 1.
(defrule phone-number
  (evidence (subject ?subject) (pointer ?pointer)
    (text ?text&:(matches ?text "(?:\\B\\+[1-9](?:[ .()/-]{0,3}\\d){7,14}|(?:\\([2-9]\\d\\d\\)[ ./\\x{A0}\\x{2010}-\\x{2015}-]?|\\b[2-9]\\d\\d[ ./\\x{A0}\\x{2010}-\\x{2015}-])[2-9]\\d\\d[ ./\\x{A0}\\x{2010}-\\x{2015}-]\\d{4})\\b")))
  =>
  (assert (finding (kind "phone number") (subject ?subject) (pointer ?pointer)
    (pattern "(?:\\B\\+[1-9](?:[ .()/-]{0,3}\\d){7,14}|(?:\\([2-9]\\d\\d\\)[ ./\\x{A0}\\x{2010}-\\x{2015}-]?|\\b[2-9]\\d\\d[ ./\\x{A0}\\x{2010}-\\x{2015}-])[2-9]\\d\\d[ ./\\x{A0}\\x{2010}-\\x{2015}-]\\d{4})\\b"))))

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
