compare-kicker = Two sessions: A is run { $a }, { $first }; B is run { $b }, { $second }
compare-title = Run { $b } against run { $a }
compare-watermark = NOT COMPARABLE: { $keys }
compare-watermark-more = NOT COMPARABLE: { $keys } and { $count } more
compare-unpaired = Unpaired, { $a ->
    [one] { $a } session
   *[other] { $a } sessions
} of A and { $b } of B: { $sentence }
compare-no-verdict = no verdict, as the runs are not comparable; { $sentence }
compare-nothing = Nothing was compared: no load point has a good trial under the same levels in both runs.
compare-refused = No verdict: A and B differ in { $count ->
    [one] { $count } key that was
   *[other] { $count } keys that were
} not declared to differ, and any of them may be the cause of any difference: { $keys }.
compare-remedies = What would make them comparable
compare-remedy-identity = Keys of the class identity say what was measured ({ $keys }): run the same plan with the same version of stend in both sessions.
compare-remedy-critical = Make { $keys } the same and measure again. What is itself to be compared is declared in the plan of a new run, in the table [environment] as "{ $key }" = "factor"; what cannot matter there, as "info".
compare-remedy-force = With --force the figures are shown without a verdict, and marked in every medium.

compare-results = Results
compare-caption = { $repeat ->
    [boot] Means of the boots of A and B, and their ratio
    [mixed] Block values and means of boots of A and B, and their ratio
   *[block] Block values of A and B, and their ratio
}
compare-caption-sessions = Means of the sessions of A and B, and their ratio
compare-figure-footnote-sessions = n = { $a } sessions of A and { $b } of B; bands are { $level } intervals over the sessions of each side.
compare-figure-footnote = n = { $a } { repeats } of A and { $b } of B; bands are { $level } intervals of each run by itself.
compare-condition = Levels and load
compare-overall = all points
compare-ratio = B over A
compare-n = n
compare-blocks = { $a } and { $b }
compare-left-out = { $count ->
    [one] { $count } counted trial is
   *[other] { $count } counted trials are
} in none of these figures, because a fault hit it or it was repeated.

compare-differences = What differs
compare-same = Nothing that is recorded of machine, plan and version differs.
compare-confounders = Not declared to differ, and so no verdict
compare-factors = Declared to differ
compare-warnings = Differs by less than its grain: a warning
compare-info = Differs without influence on figures
compare-key = Key
compare-class = Class
compare-unrecorded = not recorded
class-identity = identity
class-factor = factor
class-critical = critical
class-info = info

compare-testbeds = Test beds
compare-testbeds-caption = Both sessions side by side
compare-property = Property
compare-run = Run
compare-started = Began
compare-version = stend
compare-plan = Plan
compare-plan-blocks = Blocks
compare-complete = Went to its end
compare-lab = Lab
compare-adapters = Adapters of the machine
compare-adapter = { $name } ({ $driver }, MTU { $mtu })

compare-method = Method
compare-method-welch = The unit of replication is the session: one run, however often it was interrupted. Its value is the mean of the logs of its { $repeat ->
    [boot] boots
    [mixed] blocks or boots
   *[block] blocks
}. Two sessions or more a side are compared by Welch’s t test. With fewer the spread is pooled over all repeated sessions of the set-up; without any it is the prior of METHODOLOGY.md. Along a curve the decisions are made together by Holm’s step-down. Nothing pairs A and B: what differed between the sessions of A and those of B and is not recorded is in the ratio.
compare-method-margin = The margin is that of the plan of A: { $margin }. Better and worse say that the whole interval lies beyond the margin. Equivalent says that two one-sided tests place the ratio within it.
compare-sessions-few = Undecided by default: { $a ->
    [one] { $a } session
   *[other] { $a } sessions
} of A and { $b } of B. A verdict takes { $least } sessions a side. More sessions are needed, not more blocks.
compare-sessions-enough = Each run is one session: { $a } of A and { $b } of B. Every interval carries the spread between sessions.
compare-sessions-side = Sessions of { $side }: { $runs }.
compare-sessions-others = Further sessions of the same set-up, used for the spread alone: { $runs }. Which side they belong to is not recorded; name the sessions of each side with commas between them.
compare-spread-sides = The standard deviation between sessions is { $sd }, with { $freedom } degrees of freedom, from the repeated sessions of A and B.
compare-spread-others = The standard deviation between sessions is { $sd }, with { $freedom } degrees of freedom, from { $count } further sessions of the same set-up.
compare-spread-prior = No session was repeated: the standard deviation between sessions is assumed to be { $sd }, with { $freedom } degrees of freedom.
compare-needed = About { $needed } sessions a side would decide this difference at this spread.
compare-needed-many = At this spread { $most } sessions a side would not decide this difference.
reclass-known = The plan treats { $key } as { $class }, not as { $usual }: a difference in it means that in a comparison with another run.
reclass-unknown = The plan treats { $key } as { $class }; no such key is known, so check its spelling.

compare-cost = What the loads cost is not compared across sessions: whether two costs may be compared is decided trial by trial within a run, and the article of each run has that.
compare-doubt = Of { $run }: { $lead }
compare-kept = Run { $run }, which is { $name }
compare-values = Values
compare-values-caption-sessions = The mean of every session, in the order in which they were named
compare-values-caption = { $repeat ->
    [boot] The mean of every boot, in the order of boots
    [mixed] Every block value, or the mean of every boot, in its order
   *[block] Every block value in the order of its blocks
}
