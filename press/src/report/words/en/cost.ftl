# What a load cost in CPU, and why there may be no verdict on it.

place-everywhere = every point
place-at = { " " }at { $place }
place-at-several = { " " }at { $places }
engine-only = engine { $engine }
engine-depth = engine { $engine }, { $depth ->
    [one] { $depth } request a call
   *[other] { $depth } requests a call
}
engine-depths = engine { $engine }, { $depths } requests a call
mark-clients = † { $figure }

metric-cpu = CPU
metric-cpu-of-all = busy share of all CPUs
metric-pe-index = P/E index (throughput per CPU %)
metric-pe-pair = P/E index (pair)
metric-pe-server = P/E index (server)
metric-pe-pair-long = P/E index of the pair, server and clients together
metric-pe-server-long = P/E index of the server alone
metric-cpu-per-gb = CPU time per gigabyte
metric-cpu-per-operation = CPU time per operation
metric-cpu-per-work = CPU time per unit of work
metric-displaced = application work displaced

cost-title = Cost
cost-named = { $name }:
cpu-finding-better = { $other } keeps the CPUs less busy than { $base }: { $brief }
cpu-finding-worse = { $other } keeps the CPUs busier than { $base }: { $brief }
cpu-finding-equivalent = { $other } and { $base } keep the CPUs equally busy: { $brief }
cpu-finding-undecided = Undecided which of { $other } and { $base } keeps the CPUs busier: { $brief }
efficiency-title-better = { $other } is more CPU-efficient than { $base }: { $brief }
efficiency-title-worse = { $other } is less CPU-efficient than { $base }: { $brief }
efficiency-title-equivalent = { $other } and { $base } are equally CPU-efficient: { $brief }
efficiency-title-undecided = Undecided which of { $other } and { $base } is more CPU-efficient: { $brief }
efficiency-title-withheld = Throughput per CPU %: no verdict over all points
over-points = { $over ->
    [curve] { " " }over all points
   *[point] { "" }
}
efficiency-better = { $other } is more CPU-efficient than { $base }: P/E index { $brief }{ over-points }.
efficiency-worse = { $other } is less CPU-efficient than { $base }: P/E index { $brief }{ over-points }.
efficiency-equivalent = No relevant difference in CPU efficiency between { $other } and { $base }: P/E index { $brief }{ over-points }.
efficiency-undecided = Undecided with { $blocks } { repeats } which of { $other } and { $base } is more CPU-efficient: P/E index { $brief }{ over-points }.
cost-better = { $other } takes less CPU for its work than { $base }, { $metric } { $brief }.
cost-worse = { $other } takes more CPU for its work than { $base }, { $metric } { $brief }.
cost-equivalent = no relevant difference between { $other } and { $base }, { $metric } { $brief }.
cost-undecided = undecided with { $blocks } { repeats } between { $other } and { $base }, { $metric } { $brief }.
cost-withheld = { $other } against { $base }: { $metric } { $brief }, without a verdict, as { $reason }.
cost-equal-load-open = Both levels carried an equal offered load: { $verdict }
cost-equal-load = Both levels carried an equal offered load, so their costs compare directly: { $verdict }
cost-equal-load-all = At each of these loads both levels carried an equal offered load, so their costs compare directly.
cost-full-title = At full CPUs
cost-at-full = All CPUs are full at every point of { $count ->
    [one] the curve
   *[other] { $count } curves
} under both levels, { $least } at the least, so what a per cent of them gives is the throughput over again. Which level takes less CPU for its work there only an equal offered load would decide{ $how }.
cost-displaced = Work that a program at idle priority lost meanwhile: { $verdict }
cost-displaced-decides = The work that a program at idle priority lost meanwhile decides instead: { $verdict }
cost-would-decide = An equal offered load would decide{ $how }.
cost-offered-by = { " " }({ $key } in the plan)

withheld-overall = No verdict on the P/E index (throughput per CPU %) over all points: { $reason }.
withheld-everywhere = No verdict on the P/E index (throughput per CPU %), at any point or over all: { $reason }.
withheld-single = No verdict on the P/E index (throughput per CPU %): { $reason }.
withheld-note-above = –: no verdict, for the reason that stands above.
withheld-unequal-most = at full load the levels were not equally fast (throughput { $effect } where they are widest apart), so the index would compare two different loads
withheld-note = – No verdict on the P/E index at { $places }: { $reason }.
withheld-methods = the methods of CPU accounting disagree by up to { $by }
withheld-low-cpu = a level kept only { $busy } of the CPUs busy, so that the index divides by next to nothing
withheld-smt = the levels differ in simultaneous multithreading, so that a per cent of the CPUs is not the same thing on both sides
withheld-unequal = at full load the levels were not equally fast (throughput { $effect }), so the index would compare two different loads
withheld-two-states = a level has two states, so that the ratio says how often each was met
withheld-no-headroom = the load generator has too little headroom, so that the ratio is that of generator and system together
withheld-not-read = no trial has the readings
why-methods-disagree = the methods of CPU accounting disagree
why-low-cpu = the CPUs were hardly busy
why-smt-differs = the levels differ in simultaneous multithreading
why-unequal-at-saturation = both levels ran as fast as they could and not equally fast, so that only an equal offered load would decide
why-two-states = a level has two states
why-no-headroom = the load generator has too little headroom
why-not-read = no trial has the readings

cost-caption-pair = Cost of the load by level, server and clients together (pair)
cost-caption-server = Cost of the load by level, the server alone
cost-throughput = Throughput
cost-cpu = CPU
cost-index = P/E, Mbit/s per CPU %
cost-index-plain = P/E index
cost-per-gb = s/GB
cost-displaced-column = Displaced CPUs
cost-verdict = P/E against the baseline

spent-caption = Where the CPU time went, in CPUs kept busy
spent-note = Others: foreign programs. Rest: CPU time that no process accounts for.
spent-note-second = Others: foreign programs. Rest: CPU time that no process accounts for. Groups: server and clients by their control groups, a second opinion.
spent-machine = Machine
spent-server = Server
spent-clients = Clients
spent-relay = Relay
spent-between = Between links
spent-conductor = Conductor
spent-kernel = Kernel threads
spent-foreign = Others
spent-rest = Rest
spent-steal = Steal
spent-second = Groups

method-accounting = CPU time: this kernel counts by { $accounting }, which can miss short work or bill it to the wrong side; no verdict rests on that.
method-accounting-unknown = CPU time: how this kernel counts was not recorded; no verdict rests on its own sums.
method-counting = A CPU’s busy share is what its idle clock leaves of the wall clock; the share of a host comes from the CPU clocks of its processes, with control groups as a second opinion. What no process accounts for is shown as the rest and never spread over the others.
method-index = P/E index: throughput for each per cent of all CPUs, made of each trial by itself and then treated like any metric. Where server and clients share the machine it is that of the pair, because the work of receiving is billed to the sender.

states-sentence = { $level }{ $at } has two states: { $slow }, { $fast }.
state-plain = { $rate } in { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
}
state-segment = { $rate } with segments of { $segment } in { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
}
states-more = The table of the two states has { $count } more.
states-caption = Levels with two states: fast or slow for a whole trial, by chance
states-slow = Slow state
states-fast = Fast state
states-segment = Mean segment
states-trials = Trials
generator-busy = † Under { $level }{ $at } the clients were the limit: a thread of theirs ran { $share } of the time. The system under test could have done more.
generator-starved = † Under { $level }{ $at } the clients were the limit: one of their threads waited to run { $share } of the time. Others or a quota held its CPU. The system under test could have done more.
generator-late = † Under { $level }{ $at } the clients were the limit: they sent { $share } of the paced requests late. The offered load was less than planned.

interaction-title = Do the factors interact?
interaction-said = { $other } against { $base } gives { $metric } { $first } with { $first_under } and { $second } with { $second_under }. { $outcome ->
    [better] The factors interact
    [worse] The factors interact
    [equivalent] The factors do not interact
    [two-states] A level has two states, so there is no verdict on interaction
   *[undecided] Whether they interact is undecided with { $blocks } { repeats }
}: second over first { $effect }.
interaction-finding-better = The effect of { $other } against { $base } depends on { $by }
interaction-finding-worse = { interaction-finding-better }
interaction-finding-equivalent = The effect of { $other } against { $base } does not depend on { $by }
interaction-finding-undecided = It is undecided whether the effect of { $other } against { $base } depends on { $by }
interaction-finding-several = The effect of { $other } against { $base }, by { $by }
interaction-subtitle = { $metric }: each effect and the ratio of the two, bars the { $level } interval
interaction-row-first = { $other } : { $base }, { $first_under }
interaction-row-second = { $other } : { $base }, { $second_under }
interaction-row-difference = second effect : first effect
interaction-caption = Effects of one factor under two levels of another
interaction-effect-of = Effect of
interaction-pair = { $other } : { $base }
interaction-under-levels = Under
interaction-under-pair = { $first_under }, then { $second_under }
interaction-first = First
interaction-second = Second
interaction-difference = Second : first
interaction-larger = ▲ larger
interaction-smaller = ▼ smaller
