; Who did what, in the words of the journal. Nothing here stops anything. The salience is the order in which it is read: how the run
; came here, what it called, what came of it, and what people did.

; The transition to a step is a fact of every attempt of it.
(defrule transition
  (declare (salience 40))
  (transition (from ?from) (to ?to) (by ?by))
  (not (tool-call (attempt ?attempt&:(> ?attempt 1))))
  =>
  (assert (decision (reason (str-cat "from " ?from " to " ?to))
    (details event transition from ?from to ?to by ?by))))

(defrule tool-call
  (declare (salience 30))
  (tool-call (tool ?tool) (version ?version) (plugin ?plugin) (side-effects ?effects) (attempt ?attempt) (step ?step))
  (tool-result (outcome ?outcome) (step ?step))
  =>
  (assert (decision (reason (str-cat "step " ?step " called " ?tool ", which ended with " ?outcome))
    (details event tool-call tool ?tool version ?version plugin ?plugin side-effects ?effects attempt ?attempt step ?step outcome ?outcome))))

; Its outcome is unknown.
(defrule tool-call-under-way
  (declare (salience 30))
  (moment (name at-end))
  (tool-call (tool ?tool) (version ?version) (plugin ?plugin) (side-effects ?effects) (attempt ?attempt) (step ?step))
  =>
  (assert (decision (reason (str-cat "step " ?step " had called " ?tool " when the run ended"))
    (details event tool-call tool ?tool version ?version plugin ?plugin side-effects ?effects attempt ?attempt step ?step outcome unknown))))

(defrule artifact
  (declare (salience 20))
  (artifact (name ?name) (media-type ?type) (bytes ?bytes) (digest ?digest))
  =>
  (assert (decision (reason (str-cat "artifact " ?name))
    (details event artifact name ?name media-type ?type bytes ?bytes digest ?digest))))

; What people did is there for the rest of the run: it is written once, at its end.
(defrule respond
  (declare (salience 10))
  (moment (name at-end))
  (respond (actor ?actor) (answer ?answer) (capability ?capability))
  =>
  (assert (decision (reason (str-cat ?actor " answered " ?answer))
    (details event respond actor ?actor answer ?answer capability ?capability))))

(defrule cancel
  (moment (name at-end))
  (cancel (actor ?actor) (reason ?reason))
  =>
  (assert (decision (reason (str-cat "cancelled: " ?reason))
    (details event cancel actor ?actor reason ?reason))))
