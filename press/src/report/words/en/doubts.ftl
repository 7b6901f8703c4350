doubts-title = Limitations
doubts-none = The checks of stend found no caveat. That does not prove that there is none.

doubt-one-machine = Server and clients share one machine and its CPUs.
doubt-one-machine-means = The figures are of both ends together. They do not show how fast the server is with separate clients.
doubt-one-machine-fix = Repeat with the clients on other machines.
doubt-compound = Whole machines were compared: { $machines }. They differ in { $differences } recorded facts, among them { $named }.
doubt-compound-means = The difference belongs to the machines as wholes. No single part is credited with it.
doubt-compound-fix = Change one part at a time, on one machine.
doubt-loopback = The hosts are processes on the loopback interface{ $known ->
    [yes] : { $why }
   *[no] { "" }
}.
doubt-loopback-means = No link, adapter or queue is in the path. Nothing follows about a network.
doubt-loopback-fix = Run as root, or allow user namespaces, for real links.
doubt-guest = The machine is a guest of { $known ->
    [yes] { $hypervisor }
   *[no] an unidentified hypervisor
}.
doubt-guest-means = Other guests and the hypervisor’s scheduler influence the figures. Absolute figures do not carry over to bare metal.
doubt-guest-fix = Repeat on the bare machine if absolute figures matter.
doubt-emulated = Machines of this lab are emulated by software ({ $emulator }).
doubt-emulated-means = The figures are those of the emulator, so there is no verdict on speed. What drivers accept and refuse is true.
doubt-emulated-fix = Repeat on machines of hardware, by the same plan and a lab file of theirs.
doubt-from-outside = The server at { $servers } was measured from outside.
doubt-from-outside-means = Its CPU time, energy and settings are unknown, so no cost of it is given. The machine that is described has the clients.
doubt-from-outside-fix = Have stend start the server on a machine with an agent.
doubt-steal = The hypervisor took { $share } of all CPU time during the windows.
doubt-steal-means = Figures are low by about that share, unevenly between blocks.
doubt-steal-fix = Repeat at a quiet hour or with dedicated CPUs.
doubt-noise-floor = A level against itself differs by { $effect }.
doubt-noise-floor-means = An effect of that size is noise on this machine, whatever its interval says.
doubt-noise-floor-fix = Use more { repeats }, and look for other activity.
doubt-ratio-moved = The ratio drifted over the run: { $first }, its last { repeat-one } against its first { $change }.
doubt-ratio-moved-means = The figure is the average over the run; the ratio differed at its two ends. What moves both levels alike is not in it.
doubt-ratio-moved-fix = Look for a change under one level only (heat, a cache that fills, a neighbour on its CPUs), and repeat.
doubt-drifted = { $loads ->
    [several] Under the load { $load } the figures drifted over the run, on average over the levels: the last block against the first { $change }.
   *[one] The figures drifted over the run, on average over the levels: the last block against the first { $change }.
}
doubt-drifted-means = A drift that all levels share is in no ratio, because a block runs every level. Rates, times and costs are means over the drift.
doubt-drifted-fix = Look for heat, a disk or cache that fills, or another program, and repeat when the rate is level.
doubt-stepped = { $loads ->
    [several] Under the load { $load } the figures changed at once, on average over the levels, { $at } after the beginning: after it against before { $change }.
   *[one] The figures changed at once, on average over the levels, { $at } after the beginning: after it against before { $change }.
}
doubt-stepped-means = A step that all levels share is in no ratio, because a block runs every level. Rates, times and costs are means over two states of the machine.
doubt-stepped-fix = Look for what changed at that moment (throttling, another guest, a service that started), and repeat.
doubt-paused = { $times ->
    [one] Nothing was measured for { $longest }, { $at } after the beginning.
   *[other] Nothing was measured { $times } times, the longest for { $longest }, { $at } after the beginning.
}
doubt-paused-means = The machine may have changed in the meantime. A block that lies on both sides of the pause compares levels at different times.
doubt-paused-fix = Repeat the run without a pause where the figures before and after it differ.
doubt-neighbours-alike = Neighbouring { repeats } are correlated: { $first }, where the rank of a { repeat-one } follows that of the one before by { $follows }.
doubt-neighbours-alike-means = There are fewer independent measurements than n says. Intervals are too narrow, and false alarms are more frequent than the level says.
doubt-neighbours-alike-fix = Let more time pass between { repeats }: use longer windows or several runs.
doubt-block-apart = { $repeat ->
    [boot] Round
   *[block] Block
} { $block } stands apart: { $first }, its ratio is { $off } off the middle one and makes { $share } of the scatter.
doubt-block-apart-means = The ratio of a whole comparison rests on ranks and hardly follows it. The points of a curve rest on means, and one such { repeat-one } widens their intervals.
doubt-block-apart-fix = See what else ran at that time; the appendix has all its figures. Trials are left out for an event, never for a value.
doubt-seen-in = This holds in { $seen } of the { $of } comparisons that were checked.
doubt-uneven = { $share } of the trials at { $level } ran at { $rate } of its median, and { $beside } at { $rest } fell as low ({ $first }). The typical ratio is { $typical }; the mean ratio is { $mean }. { $of ->
    [one] { "" }
   *[other] { $seen } of { $of } comparisons are uneven.
}
doubt-uneven-means = A collapsed trial lies more than { $off } below the median of its level. The typical ratio hardly reflects such trials; the mean ratio does. Where they disagree the levels are not called equal, and a gate is inconclusive.
doubt-uneven-fix = Look at the collapsed trials in the appendix, and raise the number of { repeats }.
doubt-not-steady = Of { $of } trials, { $trials } were not at a steady rate when their window opened.
doubt-not-steady-means = Their figures include part of the ramp.
doubt-array-activity = In { $trials } of { $of } trials an array under the file was being rebuilt or checked when the trial was staged: { $first }.
doubt-array-activity-means = This work takes operations of the drives. An array at rest does more.
doubt-array-activity-fix = Wait until sync_action of the array says idle, and run again.
doubt-failed-operations = In { $trials } of { $of } trials operations failed or never ended: { $classes }.
doubt-failed-operations-means = Rates and times are of the complete operations. An operation that never ended is in no percentile.
doubt-failed-operations-fix = Offer less, or let the server serve more at once.
doubt-not-steady-fix = Allow a longer settling time in the plan.
doubt-unsettled = Of { $of } trials, { $never } reached no steady state within their window, and { $late } reached it late.
doubt-unsettled-means = Their figures are means over a rate that still changed. A longer trial gives other figures.
doubt-unsettled-fix = Set a longer settle in the plan, so that the load reaches its steady state before the window opens.
doubt-left-steady-state = Of { $of } trials, { $trials } left the steady state within their window, the earliest after { $earliest }. The rate fell and stayed below in { $lower }, fell several times in { $repeated }, fell once and returned in { $recovered }, and rose in { $higher }.
doubt-left-steady-state-means = Their figures are means over more than one state. Causes of a lasting fall are a full cache or heat, of repeated falls throttling, of a single one a rebuild or other work of the device.
doubt-left-steady-state-fix = Look at temperature, caches and arrays; measure each state in a separate window.
doubt-few-rounds = In { $trials } of { $of } trials the window had too few rounds to test for a steady state: { $rounds } of { $needs }.
doubt-few-rounds-means = Whether the rate drifted within the window is unknown, and a longer trial may give other figures.
doubt-few-rounds-fix = Set a longer window in the plan, or a shorter round in the load.
doubt-not-from-disk = In { $trials } of { $of } trials the load asked to go past the page cache, and block devices did not serve all of its bytes: { $least } in the trial with the least.
doubt-not-from-disk-means = These figures are of memory, or partly so, and not of a disk.
doubt-not-from-disk-fix = Name a directory on a disk, and look at what the record says of its file system.
doubt-too-few = Too few samples for { $at } of { $metric }: { $values } of { $needs }.
doubt-too-few-means = Too few values lie beyond the quantile: a few extremes would set it. The report gives no figure and no verdict.
doubt-too-few-fix = Measure in longer windows, in more blocks or at a higher rate, or judge by a lower quantile.
doubt-faster-with-more = Load { $load } was { $gain } as fast with { $more } { $work } as with { $less }.
doubt-faster-with-more-means = More work for each unit cannot take less time. The figures are not of the work that they name: it ended early, was not done, or was done elsewhere.
doubt-faster-with-more-fix = Look at what the load had to do at both points, such as which rules matched, and at the CPU time of each trial.
doubt-shipped-bridge = The bridge of { $hosts } showed every frame to the filter of IP (br_netfilter), at all levels.
doubt-shipped-bridge-means = Bridges ship in this form, and it slows them down. The figure is not what the kernel’s bridge can forward, and no baseline for another box.
doubt-shipped-bridge-fix = Set bridge_netfilter = "off", or compare both forms as levels of that factor.
doubt-search-ends = Of { $of } searches of load { $load }, { $ended } ended at an end of their range.
doubt-search-ends-means = The answer lies at that end or beyond. Levels may differ by more than the report shows.
doubt-search-ends-fix = Widen from and to of the search in the plan.
doubt-simulated = Nothing was measured: hosts, links and clock are a model.
doubt-simulated-means = Every figure follows from the physics named in the test bed and from a seed. It shows how stend judges, and nothing about any machine.
doubt-simulated-fix = Run the same plan on a real lab to measure.
doubt-clients-only = { $places ->
    [one] { $places } set-up gave
   *[other] { $places } set-ups gave
} no figure, because the clients were at their limit in every attempt; the first is { $first }.
doubt-clients-only-means = Their figures show the clients, and stand in the appendix only.
doubt-clients-only-fix = Use more clients, faster ones, or a load that they can carry.
doubt-faults = { $trials ->
    [one] { $trials } attempt was
   *[other] { $trials } attempts were
} invalid; the first says: { $first }. { $again ->
    [one] { $again } of these trials was
   *[other] { $again } of these trials were
} repeated and came out valid; { $lost ->
    [one] { $lost } is
   *[other] { $lost } are
} lost for good.
doubt-faults-means = Such an attempt is in no figure, is never counted as zero, and was made again: up to { $attempts ->
    [one] { $attempts } time
   *[other] { $attempts } times
}, or { $clients ->
    [one] { $clients } time
   *[other] { $clients } times
} where what makes the load was the limit.
doubt-faults-fix = If one level loses more than the other, that is a finding in itself: see the appendix.
doubt-partial = The run is partial: { $why }.
doubt-partial-means = Missing { repeats } make the intervals wider, and later drift was not seen.
doubt-partial-fix = Go on with stend resume, and use its verdicts only then: looking at them first and deciding by them whether to go on makes false alarms more frequent than the level says.
doubt-incomplete = The run is incomplete: { $valid } of { $of } counted trials are valid, and { $enough } are needed.
doubt-incomplete-means = The trials that were lost may differ from those that were kept.
doubt-incomplete-fix = Remove the cause of the most frequent fault, and run the plan again.
doubt-few-blocks = There { $blocks ->
    [one] is { $blocks } { repeat-one }
   *[other] are { $blocks } { repeats }
}; the smallest effect that { $power } of such runs would show is { $smallest }, for a comparison that stands alone.
doubt-few-blocks-means = Smaller differences could stay undecided. The points of a curve are judged together, so one of them must differ by more.
doubt-few-blocks-fix = Measure more { repeats }: { $repeat ->
    [boot] raise boots in the plan.
    [mixed] raise blocks or boots in the plan.
   *[block] stend resume --blocks +N adds them.
}
doubt-virtual-links = The links are virtual: there is no wire, no adapter and no line rate.
doubt-virtual-links-means = The figures are of the kernel’s network stack. They do not show which adapter is faster.
doubt-virtual-links-fix = Repeat over the real adapters.
doubt-foreign = Other programs used { $cpu } during the windows.
doubt-foreign-means = The load lost that time, unevenly between blocks. The busy share of the machine includes it, so costs look higher than they are.
doubt-foreign-fix = Stop them, or repeat at a quiet hour.
doubt-pause-frames = The adapter { $adapter } sent { $sent } pause frames and received { $received }, in { $trials } of { $of } valid trials.
doubt-pause-frames-means = An end that sends pause frames cannot take what arrives; an end that receives them stops sending for a while. The throughput is that of the full end, and no loss shows it.
doubt-pause-frames-fix = Find the full end, or repeat with flow control off (factors pause_rx and pause_tx).
doubt-cpu-methods = The methods of CPU accounting disagree by up to { $by }.
doubt-cpu-methods-means = One of them misses work. Where they disagree, the P/E index has no verdict.
doubt-cpu-methods-fix = Repeat with a longer window; the table of where the CPU time went shows what no process accounts for.

doubt-in-part = { $lead } Seen in the part “{ $part }”.
doubt-worst-part = { $lead } The worst part is “{ $part }”.

short-one-machine = server and clients share this machine’s CPUs
short-compound = whole machines, which differ in { $differences } facts: no single part is credited
short-loopback = loopback: no link, no adapter and no queue in the path
short-guest = { $known ->
    [yes] a guest of { $hypervisor }
   *[no] a virtual machine
}: other guests influence the figures
short-emulated = machines emulated by software: no verdict on speed
short-from-outside = the server was measured from outside: its CPU time and energy are unknown
short-steal = the hypervisor took { $share } of the CPU time
short-noise-floor = a level against itself differs by { $brief }
short-ratio-moved = the ratio drifted by { $moved } over the run
short-drifted = the figures drifted by { $moved } over the run
short-stepped = the figures changed at once by { $moved } at { $at }
short-paused = nothing was measured for { $longest }
short-neighbours-alike = neighbouring { repeats } are correlated
short-block-apart = { $repeat ->
    [boot] round
   *[block] block
} { $block } stands apart, { $off } off
short-faster-with-more = { $load } was faster with { $more } { $work } than with { $less }
short-shipped-bridge = the bridge of { $hosts } showed every frame to the filter of IP
short-search-ends = { $ended } of { $of } searches ended at an end of their range
short-array-activity = an array was rebuilt or checked in { $trials } of { $of } trials: { $first }
short-failed-operations = operations failed in { $trials } of { $of } trials: { $classes }
short-not-steady = { $trials } of { $of } trials were not at a steady rate when measured
short-unsettled = { $trials } of { $of } trials were not in a steady state from the start
short-left-steady-state = { $trials } of { $of } trials left the steady state, the earliest after { $earliest }
short-few-rounds = too few rounds to test for a steady state: { $rounds } of { $needs }
short-not-from-disk = { $trials } of { $of } trials were served from memory: a disk served { $least } of the bytes in the least
short-too-few = too few samples for { $at } of { $metric }: { $values } of { $needs }
short-simulated = a simulation: nothing was measured
short-clients-only = { $places ->
    [one] { $places } set-up without a figure: the clients were at their limit
   *[other] { $places } set-ups without a figure: the clients were at their limit
}
short-faults = { $trials ->
    [one] { $trials } attempt was invalid and is in no figure
   *[other] { $trials } attempts were invalid and are in no figure
}
short-uneven = { $share } of the trials at { $level } collapse to { $rate } of its median
short-partial = the run is partial
short-incomplete = { $valid } of { $of } trials are valid
short-few-blocks = { $blocks ->
    [one] { $blocks } { repeat-one }
   *[other] { $blocks } { repeats }
}: effects under { $smallest } may stay unseen
box-few = { $repeat ->
    [block] { $doubt }. A block runs every level once, in random order.
   *[other] { $doubt }
}
short-virtual-links = virtual links: no wire, no adapter and no line rate
short-pause-frames = { $adapter } sent { $sent } pause frames and received { $received }
short-foreign = other programs used { $cpu }
short-cpu-methods = the methods of CPU accounting disagree by { $by }
short-two-states = { $count ->
    [one] two states at { $count } point: fast or slow for a whole trial
   *[other] two states at { $count } points: fast or slow for a whole trial
}
short-more = { $doubt } (+ { $count } more in the report)
