; A transient error is tried again after 200 ms, 400 ms, 800 ms …, five attempts in all. The step's own policy still says whether
; a retry is allowed: a pack cannot widen it. Nor does a setting go beyond five.

(deftemplate terms (slot attempts (type INTEGER) (default 5)) (slot delay (type INTEGER) (default 200)))

(defrule terms-by-default
  (not (setting (key "attempts")))
  (not (setting (key "delay_ms")))
  => (assert (terms)))

(defrule terms-with-attempts
  (setting (key "attempts") (value ?attempts))
  (not (setting (key "delay_ms")))
  => (assert (terms (attempts (min 5 ?attempts)))))

(defrule terms-with-delay
  (not (setting (key "attempts")))
  (setting (key "delay_ms") (value ?delay))
  => (assert (terms (delay ?delay))))

(defrule terms-as-set
  (setting (key "attempts") (value ?attempts))
  (setting (key "delay_ms") (value ?delay))
  => (assert (terms (attempts (min 5 ?attempts)) (delay ?delay))))

(defrule try-again
  (terms (attempts ?most) (delay ?delay))
  (error (transient TRUE) (code ?code) (attempt ?attempt&:(< ?attempt ?most)))
  =>
  (assert (decision
    (action retry)
    (delay-ms (div (min 3600000 (* ?delay (** 2 (- ?attempt 1)))) 1))
    (reason (str-cat ?code " may pass; attempt " ?attempt " of " ?most)))))

(defrule give-up
  (terms (attempts ?most))
  (error (transient TRUE) (code ?code) (attempt ?attempt&:(>= ?attempt ?most)))
  =>
  (assert (decision
    (action veto)
    (reason (str-cat ?code " did not pass in " ?attempt " attempts"))
    (details code ?code attempts ?attempt))))

(defrule not-transient
  (moment (name on-error))
  (error (transient FALSE) (code ?code))
  =>
  (assert (decision
    (action annotate)
    (reason (str-cat ?code " will not pass: it is not tried again"))
    (details code ?code))))
