; The host's fact vocabulary, version 1.0. docs/facts.md says when each fact is there.
; Every template ends in the same five slots, its provenance: who said it (origin), which part of it (source), in which
; run, at which step (-1 outside of steps) and when (milliseconds since 1970).

(deftemplate moment
  (slot name (type SYMBOL) (allowed-symbols before-run before-step after-step on-error at-end))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate run
  (slot kind (type SYMBOL) (allowed-symbols chain graph))
  (slot name (type STRING)) (slot council (type STRING)) (slot status (type SYMBOL))
  (slot steps (type INTEGER)) (slot elapsed-ms (type INTEGER))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate step
  (slot name (type STRING)) (slot sprite (type STRING)) (slot capability (type STRING)) (slot tool (type STRING))
  (slot side-effects (type SYMBOL) (default none)) (slot protected (type SYMBOL) (default FALSE))
  (slot status (type SYMBOL)) (slot attempt (type INTEGER) (default 1)) (slot duration-ms (type INTEGER))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate tool-call
  (slot tool (type STRING)) (slot version (type STRING)) (slot plugin (type STRING))
  (slot side-effects (type SYMBOL) (default none)) (slot attempt (type INTEGER) (default 1))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate nested-call
  (slot tool (type STRING)) (slot caller (type STRING)) (slot path (type STRING)) (slot depth (type INTEGER))
  (slot within (type SYMBOL) (allowed-symbols step gate))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate tool-result
  (slot tool (type STRING)) (slot outcome (type SYMBOL)) (slot duration-ms (type INTEGER)) (slot bytes (type INTEGER))
  (slot attempt (type INTEGER) (default 1))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate transition
  (slot from (type LEXEME)) (slot to (type LEXEME)) (slot by (type STRING))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate error
  (slot code (type STRING)) (slot message (type STRING)) (slot transient (type SYMBOL) (default FALSE))
  (slot attempt (type INTEGER) (default 1)) (slot retries-left (type INTEGER))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate evidence
  (slot subject (type SYMBOL) (allowed-symbols input output)) (slot pointer (type STRING)) (slot text (type STRING))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate respond
  (slot actor (type STRING)) (slot answer (type SYMBOL)) (slot capability (type STRING)) (slot note (type STRING))
  (slot origin (type SYMBOL) (default person)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate cancel
  (slot actor (type STRING)) (slot reason (type STRING))
  (slot origin (type SYMBOL) (default person)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate gate
  (slot name (type STRING)) (slot position (type SYMBOL)) (slot outcome (type SYMBOL)) (slot reason (type STRING))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate tokens-used
  (slot model (type STRING)) (slot input (type INTEGER)) (slot output (type INTEGER)) (slot total (type INTEGER))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate cost
  (slot amount (type NUMBER)) (slot currency (type STRING) (default "USD"))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate budget
  (slot kind (type SYMBOL) (allowed-symbols tokens latency cost steps))
  (slot limit (type NUMBER)) (slot used (type NUMBER) (default 0))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate artifact
  (slot name (type STRING)) (slot media-type (type STRING)) (slot bytes (type INTEGER)) (slot digest (type STRING))
  (slot origin (type SYMBOL) (default tool)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate setting
  (slot key (type STRING)) (slot value)
  (slot origin (type SYMBOL) (default person)) (slot source (type STRING) (default "mizzen.toml")) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))

(deftemplate visit
  (slot node (type STRING)) (slot kind (type STRING)) (slot iteration (type INTEGER) (default 1))
  (slot outcome (type SYMBOL) (allowed-symbols completed failed stopped))
  (slot origin (type SYMBOL) (default host)) (slot source (type STRING)) (slot run-id (type STRING))
  (slot step (type INTEGER) (default -1)) (slot time (type INTEGER)))
