method-title = Method
method-order = Order: randomised blocks. A block visits every level at every load point once, in an order drawn from the seed, so that a drift of the machine falls on all levels alike. Dry visits come first and are never counted.
method-window = Each trial runs up to a steady rate before its window opens; CPU and network counters are read at exactly the two edges of the window.
method-effect = Effect: the levels are divided within each block, and the intervals are Student t intervals of the mean log ratio, at { $level } where one stands alone. Along a curve the decisions are made together: Holm’s step-down keeps the chance of any false one at { $alpha } or less, and the interval of a point is drawn at the level of its own step, so that it leaves out no difference exactly where one is claimed. The verdict of a whole curve rests on the block means over its points.
method-margin = Differences below { $margin } were declared to be of no practical interest before the run. Equal means that the whole interval lies within that margin.
method-precision = The least precise of the answers below is known to between { $low } and { $high } of its centre.
method-smallest = With { $blocks ->
    [one] { $blocks } block
   *[other] { $blocks } blocks
}, an effect of { $smallest } would be seen in four of five such runs.
method-caption = How the trials were made
method-load = Load
method-compare = Compared
method-levels = Levels, the baseline first
method-blocks = Blocks
method-visits = Counted and dry trials
method-visits-value = { $counted } and { $dry }
method-settle = Settling before the window
method-settle-value = { $least } to { $most }
method-duration = Window
method-steady = Steady when it opened
method-steady-value = { $steady } of { $of }

results-title = Results
results-point-title = { $metric }: { $other } against { $base }
results-none = No comparison could be made: there are no counted trials under two levels.
figure-curve-subtitle = { $metric } by { $curve }, { $condition }; the ratio above is over all points
figure-curve-subtitle-plain = { $metric } by { $curve }; the ratio above is over all points
finding-better = { $other } is ahead of { $base }: { $effect }
finding-worse = { $other } is behind { $base }: { $effect }
finding-equivalent = { $other } and { $base } are equal: { $effect }
finding-undecided = { $other } and { $base } are not told apart: { $effect }
figure-dots-title = { $metric } of the levels against their baselines
figure-dots-subtitle = Ratio to the baseline: a dot a block, a bar the interval
figure-dots-row = { $condition }: { $other } against { $base }
figure-dots-row-plain = { $other } against { $base }
figure-footnote = n = { $blocks } blocks in random order; { $level } intervals; run { $run }.
figure-footnote-curve = n = { $blocks } blocks in random order; bands are { $level } intervals of each level by itself; run { $run }.
figure-footnote-alone = A single block, so no interval; run { $run }.
zone-ahead = { $level } ahead
axis-ratio = ratio to the baseline
reference-equal = no difference
direction-higher = higher is better
direction-lower = lower is better
knee-reached = { $level } first comes within { $share } of its highest value, { $highest }, at { $at }.
knee-rising = { $level } is still rising at { $at }, where it reaches its highest value, { $highest }.
cause = What limited it: { $causes }.
cause-one = { $level } – { $limit }, { $evidence }
cause-one-unseen = { $level } – { $limit }, CPUs { $evidence } busy
left-out = { $count ->
    [one] { $count } counted trial is
   *[other] { $count } counted trials are
} in none of these ratios, because a fault hit the trial or its partner.
see-figure = { $text } See Figure { $number }.
table-number = Table { $number }. { $caption }
table-data-caption = The data of Figure { $figure }: { $metric }
table-comparison = Comparison
table-ratio = Ratio ({ $level } interval)
table-ratio-alone = Ratio
table-ratio-curve = Ratio (interval of its step)
table-base = Baseline
table-other = Level
table-verdict = Verdict
table-blocks = n
table-overall = all points

limits-title = What limited it
limits-intro = Resources are looked at in a fixed order – all CPUs, one CPU, the set rate, the receiver’s window, the sender’s buffer – over the measured windows of each level, and the first that was full is named. A rival is one that was looked at before it and was not full.
limits-caption = What was full, with the share that shows it
limits-level = Level
limits-kind = Limit
limits-evidence = Evidence
limits-evidence-value = { $share }
limits-evidence-unseen = CPUs { $share } busy
limits-rivals = Rivals, ruled out
limits-no-rivals = –
limits-none = No limit was looked for: the run has no readings of the CPUs and the sockets.
limit-all-cpus = all CPUs busy
limit-one-cpu = one CPU busy while others idled
limit-set-rate = the rate set on the link
limit-receive-window = the receiver’s window
limit-send-buffer = the sender’s buffer
limit-none-seen = none of the watched resources was full
explain-all-cpus = All CPUs busy: the machine as a whole is the limit; a faster link would change nothing.
explain-one-cpu = One CPU busy: a single thread or interrupt is the limit; more queues or streams may help, more cores alone will not.
explain-set-rate = The set rate: the link’s own shaper is the limit; the levels can differ only in what they cost.
explain-receive-window = The receiver’s window: the receiving application or its buffer is too slow for the sender.
explain-send-buffer = The sender’s buffer: the buffer is too small for the rate and the round-trip time.
explain-none-seen = None seen: latency, locks or a resource that was not watched; the cause stays open.
