; What a run may use up. The host says what was used and, where the run has a limit of its own, the limit; the operator's
; settings come before it.

(deftemplate key (slot kind (type SYMBOL)) (slot name (type STRING)))
(deftemplate limit (slot kind (type SYMBOL)) (slot value (type NUMBER)))

(deffacts keys
  (key (kind tokens) (name "tokens"))
  (key (kind latency) (name "latency_ms"))
  (key (kind cost) (name "cost"))
  (key (kind steps) (name "steps")))

(defrule limit-as-set
  (key (kind ?kind) (name ?name))
  (setting (key ?name) (value ?limit&:(numberp ?limit)))
  =>
  (assert (limit (kind ?kind) (value ?limit))))

; A chain has as many steps as it has: that is no limit.
(defrule limit-of-the-run
  (key (kind ?kind&~steps) (name ?name))
  (not (setting (key ?name)))
  (budget (kind ?kind) (limit ?limit&:(> ?limit 0)))
  =>
  (assert (limit (kind ?kind) (value ?limit))))

; Costs are sums of fractions: ten times 0.1 is a little less than 1, and is meant to be 1. The tolerance is a ten-trillionth.
(defrule spent
  (limit (kind ?kind&~steps) (value ?limit))
  (budget (kind ?kind) (used ?used&:(>= ?used (* 0.9999999999999 ?limit))))
  =>
  (assert (decision
    (action veto)
    (reason (str-cat "the run has used " ?used " of " ?limit " " ?kind))
    (details kind ?kind used ?used limit ?limit))))

; The last step that is allowed may end; the next one may not begin.
(defrule steps-spent
  (moment (name before-step))
  (limit (kind steps) (value ?limit))
  (budget (kind steps) (used ?used&:(>= ?used ?limit)))
  =>
  (assert (decision
    (action veto)
    (reason (str-cat "the run has made " ?used " of " ?limit " steps"))
    (details kind steps used ?used limit ?limit))))

(defrule nearly-spent
  (limit (kind ?kind) (value ?limit))
  (budget (kind ?kind) (used ?used&:(and (< ?used (* 0.9999999999999 ?limit)) (>= (* 10.0 ?used) (* 8.999999999999 ?limit)))))
  =>
  (assert (decision
    (action annotate)
    (severity warning)
    (reason (str-cat "the run has used " ?used " of " ?limit " " ?kind))
    (details kind ?kind used ?used limit ?limit))))
