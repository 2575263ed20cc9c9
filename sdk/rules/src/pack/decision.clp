; What a rule of a pack concludes: it asserts facts of this template, and what is there at the end is the verdict.
(deftemplate decision
  (slot action (type SYMBOL) (allowed-symbols veto escalate retry redact annotate) (default annotate))
  (slot severity (type SYMBOL) (allowed-symbols auto info warning violation) (default auto))
  (slot reason (type STRING) (default ?NONE))
  (slot pointer (type STRING))
  (slot pattern (type STRING))
  (slot delay-ms (type INTEGER) (default -1) (range -1 3600000))
  (multislot details))
