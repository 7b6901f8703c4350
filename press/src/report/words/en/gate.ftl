# What `stend gate` says: a rule, its outcome, and what it rests on.

gate-said-passed = The gate passed (fail if { $rule }, by { $metric }, margin { $margin }): { $tally }.
gate-said-failed = The gate failed (fail if { $rule }, by { $metric }, margin { $margin }): { $tally }.
gate-said-inconclusive = The gate is inconclusive (fail if { $rule }, by { $metric }, margin { $margin }): { $tally }.
gate-said-not-measured = The gate has nothing to judge (fail if { $rule }, by { $metric }, margin { $margin }): { $tally }.
gate-simulated = Simulated: { $said }
gate-tally = { $count } { $outcome }
gate-word-passed = passed
gate-word-failed = failed
gate-word-inconclusive = inconclusive
gate-word-not-measured = not measured
gate-check = { $outcome }: { $name }
gate-pair = { $other } against { $base }
gate-point = At { $at }: { $effect }.
gate-more = To decide it takes { $blocks }.
gate-uneven = A level collapses now and then: its typical and its mean ratio answer differently.
gate-wide = How many { repeats } would decide it cannot be said.
gate-withheld = There is no verdict: { $reason }.
gate-only-partial = The run is partial or incomplete, so it does not pass.
gate-gaps = No pair of valid trials at { $places }, so it does not pass.
gate-no-pair = No { repeat-place } holds a valid trial of both levels.
gate-caution = To be taken with it
gate-partial = The run is partial: { $why }. Nothing passes on it.
gate-incomplete = The run is incomplete: { $valid } of { $of } counted trials are valid. Nothing passes on it.
gate-false-alarms = Where nothing differs at all, at most { $share } of such gates fail.
