# What stands beside the answer: the lines of the box, the readers, and the figures that are no curves.

figure-ref = Figure { $number }

box-where = Where
box-cost = CPU cost
box-cause = Bottleneck
box-next = What to do
box-holds = Measured at
box-holds-model = { $count ->
    [one] a simulated machine of { $count } CPU
   *[other] a simulated machine of { $count } CPUs
}
box-holds-lab = { $machine }, { $lab }
box-holds-load = load “{ $load }”: { $settings }
box-holds-said = { $place }{ $some ->
    [yes] ; { $tried }
   *[no] { "" }
}. Other conditions were not measured.
box-sure = How sure
box-sure-said = { $how ->
    [apart] Certain at { $level }{ $count ->
        [one] { "" }
       *[other] , all { $count } { $ranked ->
            [yes] pairs
           *[no] comparisons
        } judged together
    }
    [equal] Equal within ±{ $margin }, by two one-sided tests
   *[open] Not certain at { $level }
}. { $blocks } { repeats }, { $repeat ->
    [boot] a boot for each level in random order
   *[block] each with every level once, in random order
}; a difference counts as none if its whole interval lies within ±{ $margin }.
span-from = { $name } { $from } to { $to }
span-words = { $name } { $words }
next-take = Use { $other }.
next-never-worse = Use { $other }: it is behind nowhere.
next-most = Use { $other } where it is ahead; elsewhere { $base } will do as well.
next-stay = Keep { $base }.
next-by-load = Choose by load: { $other } where it is ahead, { $base } elsewhere.
next-either = Either will do: decide by price or CPU cost.
next-states = Keep { $base }, and find out why some trials at { $level } are slow: the ratio depends on how many are.
next-more = Keep { $base } until it is decided. To add blocks: stend resume { $run } --blocks +{ $blocks }{ $lab ->
    [machines] {" --machines FILE"}
   *[here] {""}
}
box-levels = Compared
box-most = By how much
box-others = Other factors
box-levels-said = { $levels }.
level-means = { $level } ({ $settings })
level-baseline = { $level } (the baseline)
level-means-baseline = { $level } (the baseline: { $settings })
level-more = and { $count } more
most-plain = { $metric }: { $before } with { $base }, { $after } with { $other }, { $effect }.
most-typical = { $metric }: { $before } with { $base }, { $after } with { $other }. These differ by { $plain }; the typical ratio within a { repeat-place } is { $effect }.
most-said = Widest single point, { $place }: { $before } with { $base }, { $after } with { $other }, { $effect }.
most-said-under = With { $level } the widest point is { $place }: { $before } with { $base }, { $after } with { $other }, { $effect }.
most-peak = { $value } with { $level }
most-peaks = { $metric } at the best point of each: { $levels }.
others-said = { $other } against { $base }: { $metric } { $sides }.
others-tally = with { $level } { $worse ->
    [never] ahead
   *[some] behind in { $behind } and ahead
} in { $ahead } of { $count } comparisons over all points
others-most = { $tally }, by { $effect }
others-most-at = { $tally }, furthest apart { $effect } ({ $place })
others-turned = { $said }, but the other way at some points of { $turned }
others-title = Other factors
others-intro = The plan compares { $compared } and crosses other factors with it. Each ratio here is judged alone.
others-boots = Levels of { $factors } take hold when the machine starts, so they are set against each other by boots: n counts boots, and the trials of a boot are one.
others-blocks = Levels of { $factors } are switched inside a boot: n counts the blocks of all boots.
others-caption = All ratios of another factor, and where a level is ahead
box-cause-said = { $causes }.
where-under = With { $level }: { $said }
where-from = { $leader } is ahead from { $from } to { $to } in { $scope ->
    [all] all { $count } curves
   *[some] at least { $least } of { $count } curves
}
where-at = { $leader } is ahead at { $from } in { $scope ->
    [all] all { $count } curves
   *[some] { $least } of { $count } curves
}
where-end = { $said }.
where-earlier = { $said }, from { $first } on in { $some } of them.
where-open = { $places } no level is ahead with certainty.
where-open-from = from { $from } to { $to }
where-open-at = at { $from }
where-disagree = In { $some } of { $count } curves the mean over all points and a region disagree: the table has both.
where-alone = { $leader } is ahead { $places }.
where-besides = { $leader } is also ahead { $places }.
where-some = { $leader } is ahead somewhere along { $count } of the curves.
where-nowhere = No level is ahead with certainty at any point of { $count } curves.
box-cost-equal-load = At an equal offered load { $said }.
box-cost-offered = With { $load } offered to both { $said }.
box-cost-any-load = At full load { $said }.
box-cost-better = { $other } needs less CPU than { $base } for the same work{ $scope }: { $metric } { $effects }
box-cost-worse = { $other } takes more CPU for its work than { $base }{ $scope }: { $metric } { $effects }
box-cost-equivalent = { $other } takes as much CPU as { $base }{ $scope }: { $metric } { $effects }
box-cost-named = { " " }with { $names }
box-cost-some = { " " }in { $some } of { $count } comparisons
box-cost-open = Undecided: { $metric } of { $other } against { $base } { $effect }.
box-cost-withheld = No verdict on CPU cost: { $reason }.
box-cost-busy = All CPUs together are busy{ $many ->
    [yes] { " " }on average
   *[no] { "" }
}: { $levels }.
box-cost-level = { $busy } with { $level }

own-count-caption = { $metric }: the count of the tester and that of the box
own-count-load = tester
own-count-other = self
own-count-note = Means over the blocks. Where the two counts differ most, they differ by { $share }.
headroom-caption = Headroom of the load generator: its rate alone, over { $metric }
headroom-note = The generator alone sends the same frames over a virtual cable. Below { $least } times there is no verdict, because generator and system then share the time of a CPU. A faster generator, or CPUs that it does not share, raise the headroom.
line-share-caption = { $metric } as a share of the declared line

matrix-caption = By load: what is better than the baseline, equal, or worse
matrix-caption-pair = By load: { $other } against { $base }
matrix-load = Load
matrix-better = ▲ Better
matrix-equivalent = = Equal
matrix-worse = ▼ Worse
matrix-undecided = ? Undecided
matrix-many = { $count } of { $of } comparisons

answers-caption = All comparisons: ratio over all points, and where a level is ahead
table-ahead = Ahead where
ahead-from = { $leader } { $from }–{ $to }, { $effects }
ahead-at = { $leader } { $from }, { $effects }
ahead-ends = { $near } to { $far }
table-agreement = Mean and regions
agreement-alike = agree
agreement-opposed = ≠ opposed
agreement-hidden = ≠ hidden by the mean
ranks-caption = Ranks of the levels of { $factor }
ranks-rank = Rank
ranks-ratio = Ratio to the baseline
ranks-alike = Not told apart from
ranks-apart = – (told apart from all)
ranks-baseline = baseline
ranks-note = All { $pairs } pairs are judged together. A rank begins behind the levels shown better and ends before those shown worse; levels that were not told apart share ranks. The interval of a ratio is that of the ratio by itself.
ranks-note-unranked = –: no rank, for want of { repeats } or of one state, or because it sets what the baseline sets.
order-over-all = all { $count } conditions
order-all = Over { $condition }: { $sentence }
order-first = { $first } is first of { $count } levels of { $factor }: { $metric } { $effect } against { $next }, the nearest.
order-first-inside = { $first } is first of { $count } levels of { $factor }, but by less than the margin of { $margin }: { $metric } { $effect } against { $next }, the nearest.
order-shared = { $shared } of { $count } levels of { $factor } share the first place and are not told apart: { $first }. Shown behind at least one of these in { $metric }: { $behind }.
order-equivalent = No relevant difference between any of { $count } levels of { $factor }: { $metric } of every pair lies within the margin of { $margin }.
order-undecided = None of { $count } levels of { $factor } was told apart from another in { $metric }, against a margin of { $margin }.
place-ranked = { $level } ({ $effect })
place-baseline = { $level } (the baseline)
ranks-place = { $rank } { $level }
ranks-line = Against the baseline{ $over ->
    [curve] , over all points
   *[point] { "" }
}: { $levels }.
ranks-subtitle = { $metric }: ratio to { $base }, a bar the { $level } interval of the ratio by itself
ranks-footnote = The rank stands before the level; levels that share one were not told apart when all { $pairs } pairs were judged together. n = { $blocks } { repeats } in random order; run { $run }.
ranks-shows = The table below says from which levels each level of { $figure } was not told apart.
box-ranks = Order
box-besides = Besides
box-besides-said = Of { $count } other comparisons, judged among themselves with an error of { $alpha } of their own, { $tally }.
place-and-others = { $first } and at { $count } more

readers-title = Recommendations
reader-buys = For buyers
reader-tunes = For tuning
reader-runs = For operators at this load
reader-writes = For driver and kernel developers
buys-cpus = { $limit } in { $some } of { $count } cases, { $evidence } at the least: faster or more CPUs would carry more, a faster link would not.
buys-one-cpu = { $limit } in { $some } of { $count } cases, { $evidence } at the least: a faster core or more queues would carry more, more cores alone would not.
buys-link = { $limit } was full in { $some } of { $count } cases, { $evidence } at the least: a faster link would carry more, faster CPUs would not.
buys-softirq = { $limit } in { $some } of { $count } cases, { $evidence } at the least: more queues, or queues spread over the CPUs, would carry more, more CPUs alone would not.
buys-bus = { $limit } was full in { $some } of { $count } cases, { $evidence } at the least: a wider or faster slot would carry more, a faster link would not.
buys-memory = { $limit } was full in { $some } of { $count } cases, { $evidence } at the least: faster memory or fewer copies would carry more, a faster link would not.
buys-disk = { $limit } was full in { $some } of { $count } cases, { $evidence } at the least: a faster disk would carry more, a faster link would not.
buys-quota = { $limit } was used up in { $some } of { $count } cases, { $evidence } at the least: what the machine itself can do was not reached.
buys-clients = { $limit } in { $some } of { $count } cases, { $evidence } at the least: what the system under test can do was not reached, so nothing here says what to buy.
buys-virtual = The links are virtual, so the choice of an adapter does not follow.
tunes-interaction = { $other } against { $base } gives { $metric } { $first } with { $first_under } and { $second } with { $second_under }, so the two settings interact. They do so in { $some } of { $count } cases.
runs-at = At { $load }{ $at } ({ $condition }) the CPUs are { $first } busy under { $base } and { $second } under { $other }.
runs-at-plain = At { $load }{ $at } the CPUs are { $first } busy under { $base } and { $second } under { $other }.
writes-one-cpu = Under { $level } one CPU is { $evidence } busy and the machine is not; it is so in { $count ->
    [one] { $count } case
   *[other] { $count } cases
}.
writes-threads = Kernel threads take { $threads } of { $machine } under { $level }{ $at }, the most of any point.
writes-states = { $level }{ $at } is fast or slow for a whole trial, { $slow } or { $fast }.
writes-states-segments = { $level }{ $at } is fast or slow for a whole trial, { $slow } or { $fast }, with segments of { $small } or { $large }.

forest-title-neither = None of { $count } comparisons ahead of the baseline or behind it
forest-title-ahead = Ahead of the baseline in { $ahead } of { $count } comparisons, behind in none
forest-title-behind = Behind the baseline in { $behind } of { $count } comparisons, ahead in none
forest-title = { $ahead } of { $count } comparisons ahead of the baseline, { $behind } behind it
forest-subtitle = ratio over all points; bar: { $level } interval
forest-subtitle-levels = ratio over all points; bar: its interval
forest-subtitle-alone = ratio over all points, of the only { repeat-place }
forest-shared = { $name } (neither ahead)
forest-states = { $name } (two states)
forest-no-headroom = { $name } (no headroom)
forest-footnote = Black: neither level is ahead, as the interval includes a ratio of one or lies within the margin.
forest-lower = { $name } (lower is better)
forest-footnote-states = Hollow: a level with two states, whose ratio says how often each was met.
forest-footnote-no-headroom = Hollow: a load generator without headroom, whose ratio is that of generator and system together.
forest-shows = { $figure } shows the ratio of every comparison. A table below has the figures.
zone-margin = margin { $margin }

heatmap-title = { $other } against { $base } at every point: { $metric }
heatmap-subtitle = ratio by { $curve } across and by condition down
heatmap-footnote = A cell is the ratio of its point. It has no colour where the interval includes a ratio of one and is wider than the margin.
heatmap-footnote-barred = Hatched: two states, or different engines or CPU features.
heatmap-footnote-hollow = Hatched: two states, or the clients at their limit.
heatmap-shows = { $figure } shows where the levels differ, one cell a point; the curves below show by how much.

curve-shows = { $figure } shows { $metric } by { $curve } under both levels.
curve-opposed = Mean and regions disagree: { $other } is { $mean ->
    [ahead] ahead of
   *[behind] behind
} { $base } on average, { $effect }, and { $sides }.
curve-hidden = Mean and regions disagree: on average there is no relevant difference between { $other } and { $base }, { $effect }, yet { $other } is { $sides }.
curve-hidden-open = Mean and regions disagree: on average it is undecided between { $other } and { $base }, { $effect }, yet { $other } is { $sides }.
curve-over = Over all points of { $figure }: { $verdict }
dots-shows = { $figure } shows each { repeat-place }.
crossing = The lead changes between { $from } and { $to }: { $other } against { $base } has { $before } at { $from } and { $after } at { $to }, where { $leader } takes the lead.
along-both = What limited it along the whole curve, under both levels: { $limit }, { $evidence }.
along-both-unseen = What limited it along the whole curve, under both levels: { $limit }, CPUs { $evidence } busy.
along-level = What limited it under { $level }: { $parts }.
along-part = { $limit } at { $places } ({ $evidence })
along-part-unseen = { $limit } at { $places } (CPUs { $evidence } busy)

groups-title = { $metric } of the levels side by side
groups-axis = condition
groups-subtitle = { $metric }; dots: { repeat-visits }; bar: { $level } interval of the level alone
groups-subtitle-alone = { $metric }; dot: the only { repeat-visit }
groups-footnote = n = { $blocks } { repeats } in random order. Overlapping bars are no verdict: the ratio within each { repeat-place } decides; run { $run }.
groups-shows = { $figure } shows the { repeat-visits } of every level under each condition.

percentile-title = { $metric } of every paired { repeat-trial }{ $at }, { $other } and { $base }
percentile-title-states = Two states{ $at }: { $metric } of every paired { repeat-trial }, { $other } and { $base }
percentile-subtitle = share of { repeat-trials } at or below a value
percentile-footnote = A step a { repeat-trial } whose partner in its { repeat-place } is valid too; a plateau between two groups of { repeat-trials } is the gap between two states.
percentile-shows = A mean would hide the spread of the { repeat-trials }; { $figure } shows all of them.
axis-share = share of { repeat-trials }

roof-section = What a request costs and what a byte costs
roof-title = Under { $level } a request sets the limit up to about { $size }, beyond it a byte does
roof-subtitle = { $metric } by { $curve }
roof-request = { $rate } at best
roof-byte = { $rate } at best
roof-footnote = Slope: the most requests a second at any point, times the size. Ceiling: the highest throughput at any point. Hollow points count for neither. Both are measured here; neither is that of a link.
roof-ceiling = { $limit }: { $rate }
roof-footnote-ceilings = The slope is the highest number of requests a second at any point times the size; the ceiling at best is the highest throughput at any point. Hollow points make neither. The other ceilings are what was read of each at the largest point, as the payload that it leaves.
roof-shows = { $figure } shows both levels under two roofs. On the slope the cost of requests is the limit, at the ceiling the cost of bytes, below both something else.

timeline-title = { $count } attempts in order of time, { $invalid } of them invalid
timeline-subtitle = an attempt over the mean of its kind: the same level under the same load
timeline-footnote = Hollow: not counted. A drift of the machine shows as a slope, a disturbance as a step.
timeline-pause = pause
timeline-footnote-thinned = To keep them apart, of every { $every } attempts of a kind the first is drawn; those with a fault are not thinned with them.
timeline-footnote-thinned-invalid = Of every { $every } attempts with one kind of fault the first is drawn.
timeline-footnote-left = { $count ->
    [one] { $count } attempt gave no figure and is not drawn; the table has it.
   *[other] { $count } attempts gave no figure and are not drawn; the table has them.
}
timeline-shows = { $figure } shows the attempts in order of time, invalid ones hollow.
axis-time = time since the run began
axis-window = time in the window
axis-like = attempt over the mean of its kind
reference-like = mean
visit-dry = dry
visit-counted = counted
invalid-dead-host = host gone
invalid-frozen = host frozen
invalid-wrong-work = wrong work
invalid-dead-stream = stream still
invalid-factor = factor not applied
invalid-disturbed = disturbed
invalid-failed = failed
invalid-steal = steal
invalid-throttled = throttled
invalid-link-flap = link flap
invalid-generator-limit = clients at their limit
invalid-not-available = not available here
invalid-not-steady = not steady
invalid-cancelled = stopped

waterfall-title = Where the CPU time goes{ $at }: from { $base } to { $other }
waterfall-subtitle = CPUs kept busy by kind of process
waterfall-footnote = Between the whole of either level stands what each kind of process takes more or less; rest: what no process accounts for.
waterfall-shows = { $figure } shows which processes take more or less under { $other } than under { $base }.
waterfall-shows-load = { $figure } shows which processes take more or less under { $other } than under { $base }, at the load where most moves.
waterfall-shows-most = { $figure } shows which processes take more or less under { $other } than under { $base }, at the point where most moves.
axis-cpus = CPUs busy

cost-none = No cost is given: that takes a comparison with readings of the CPUs, or prices.
cost-section = The load
cost-points = Single loads
cpu-full = All CPUs are full at every point under both levels, at least { $least }; a figure of them would show a line.
cpu-shows-better = { $other } keeps the CPUs less busy than { $base }: { $brief } ({ $figure }).
cpu-shows-worse = { $other } keeps the CPUs busier than { $base }: { $brief } ({ $figure }).
cpu-shows-equivalent = { $other } and { $base } keep the CPUs equally busy: { $brief } ({ $figure }).
cpu-shows-undecided = Undecided which of { $other } and { $base } keeps the CPUs busier: { $brief } ({ $figure }).
index-shows = { $figure } shows the throughput per CPU %.
interaction-shows = { $figure } shows both effects and their ratio.

entered-caption = Entered by hand, not measured
entered-of = Of
entered-what = What
entered-date = Date
entered-bed = test bed
entered-power = power
entered-state = { $what } at { $state } of the load
entered-part = { $count ->
    [one] { $what } of { $part }
   *[other] { $what } of { $part }, each of { $count }
}
entered-price = price
entered-noise = noise
entered-mass = mass
entered-ambient = ambient temperature
price-title = Price
price-caption = { $metric } for the price
price-entered = Price (entered)
price-highest = Highest
price-for = For the price
price-ratio = Ratio for the price, over all points
price-each = { $figure } per { $currency }
price-note = Prices were entered by a person; the test bed has their source and date. Every trial is divided by the price of its level, and the ratio is judged like any other; a price has no interval of its own. The gain is the further work of the dearer level, as a share of the other’s, for each unit of money more, where the work differs with certainty.
price-gain = Gain for each more
power-title = Power
power-caption = { $metric } for the power
power-entered = Power (entered)
power-measured = Power (packages and memory, mean)
power-of-board = Power (whole machine, mean)
power-for = For the power
power-ratio = Ratio for the power, over all points
power-gain = Gain for each more
power-note = Every trial is divided by the power of its level, and the ratio is judged as any other. A figure per W is work for each joule. Entered power is what a person read from a meter. The whole machine is the reading of its controller (DCMI). A controller may average over a minute: watts of a shorter window include earlier trials. Packages and memory are the counters of the CPUs (RAPL), not the whole machine. The gain is the further work of the level that takes more, as a share of the other’s, for each W more. It is given for entered watts alone, where the work differs with certainty.
worth-gain = { $figure } per { $currency } ({ $low } to { $high })
worth-part = { $load }: only { $parts } sets { $more } apart from { $less }. For { $difference } more it gives { $gain } of the work of { $less }.
worth-parts = { $load }: { $parts } together set { $more } apart from { $less }. For { $difference } more they give { $gain } of the work of { $less }; no single part is credited.
not-entered = not entered
not-measured = not measured
paced-title = Power by state of the load
paced-caption = Power and work by state of the load
paced-load = Load
paced-state = State
paced-work = Work
paced-power = Power
paced-each = Work for the power
paced-idle = idle
paced-entered = { $watts } (entered)
paced-per-watt = { $figure } per W
paced-idle-share = { $name }: idle takes { $share } of the power of the full load.
paced-none = Power by state of the load: not measured, not entered.
paced-note = States are shares of the largest load that each level carried; idle is a window without a load. Intervals are of { $level } over { repeats }. Measured power is that of the whole machine where its controller gives it (DCMI). Otherwise it is that of the CPUs’ packages and their memory (RAPL). A figure per W is work for each joule. A controller may average over a minute: watts of a shorter window include earlier trials.
traits-title = Gain, price, mass, noise and heat
traits-caption = Levels beside their work
traits-work = Work over the baseline
traits-mass = Mass (entered)
traits-noise = Noise (entered)
traits-temperature = Hottest sensor
traits-ambient = not measured; ambient { $degrees } (entered)
traits-note = A figure of parts is their sum; noises add by their powers. A level without parts takes none of what the parts of another cost. Intervals, over { repeats }, are of { $level }. The hottest sensor is read at both edges of the window.
worth-neither = Power: not measured, not entered. Price: not entered.
worth-no-power = Power: not measured, not entered.
worth-no-price = Price: not entered.

headline-noise = Control run of two equal levels: { $metric } { $effect }. A difference of that size is noise on this machine.
hollow-invalid = all attempts invalid
