headline-measured = { $span }
headline-measured-several = { $count } loads measured, no levels compared.

measured-title = What was measured
measured-span = { $bare ->
    [yes] { "" }
   *[no] { $metric }:{ " " }
}{ $low } at { $lowest } to { $high } at { $highest }.
measured-one = { $metric } { $value }.
measured-one-at = { $metric } { $value } at { $at }.
measured-searched = Searched to within { $resolution }.
measured-nothing = { $metric }: no point has a valid counted attempt.
measured-absent = Not available here: { $what }.
measured-not-available = { $count ->
    [one] { $count } of { $of } points is not available here.
   *[other] { $count } of { $of } points are not available here.
}
measured-invalid = { $count ->
    [one] { $count } of { $of } points has no valid counted attempt.
   *[other] { $count } of { $of } points have no valid counted attempt.
}
measured-curve = The curve
measured-limits = Bottleneck: { $limits }.
measured-limits-of = { $load }: { $limits }.
measured-disk = disk { $device }
measured-disk-unnamed = a disk
measured-from-disk = From { $disk }: block devices served { $least } of the bytes at the least.
measured-from-memory = From memory and not from a disk: block devices served { $most } of the bytes at the most.
measured-from-both = From { $disk } at { $some } of { $of } points; at the others memory served some or all of the bytes: { $places }.
measured-programs = CPU time of an operation: { $programs }.
measured-programs-at = CPU time of an operation at { $at }: { $programs }.
measured-program = { $name } { $value }
measured-elsewhere = The plan compares no levels; the answer has its figures.
measured-value = { $centre } ({ $range })
measured-part-load = { $part }, { $load }
measured-of = { $load }: { $metric }
measured-figure = dots: means of { $blocks } { repeats }; bars: { $level } intervals
measured-figure-alone = dots: means; of some there is a single { repeat-one }, and no interval
measured-rounds = { $load }: { $metric } over the window
measured-rounds-alone = each round of { $round }, in one trial
measured-rounds-bands = each round of { $round }; bands: { $level } intervals over the trials
measured-rounds-some = the { $drawn } of { $of } cases that changed most
measured-by = { $what } by { $axes }
measured-best = { $what }, the best of all valid trials
measured-best-column = Best of all trials
measured-load = Load
measured-mark = – ({ $mark })
measured-reason = ({ $mark }) { $reason }
measured-reason-invalid = no valid counted attempt; the first says: { $fault }
measured-reason-too-few = not available: too few samples for { $at } ({ $values } of { $needs })
measured-reason-none = no counted attempt gave a figure
measured-note-mean = Each figure is the mean over { $n } { repeats }, with its { $level } interval between them (Student’s t).
measured-note-geometric = Each figure is the geometric mean over { $n } { repeats }, with its { $level } interval between them (Student’s t on logarithms).
measured-note-ranks = Each figure is the Hodges-Lehmann estimate over { $n } { repeats }, a median of their pairwise means, with its { $level } interval between them (signed ranks).
measured-note-quantile = Each figure is the quantile of all values of { $n } { repeats } together. Its { $level } interval spans the quantiles of single { repeats } and is widened to include the figure.
measured-note-single = A figure without an interval is of one { repeat-one }.
measured-left-out = { $count ->
    [one] { $count } counted attempt is in none of these figures, because a fault hit it.
   *[other] { $count } counted attempts are in none of these figures, because a fault hit them.
}
card-measured = { $name }: { $span }
card-measured-one = { $name } { $value }
card-measured-within = { $spans }; { $level } intervals within ±{ $most }
card-measured-tail = { $span }, { $name } { $tail }
card-measured-searched = { $span } (searched to within { $resolution })
card-measured-range = { $low } to { $high }
card-from-disk = { $span }; from { $disk }
card-from-memory = { $span }; from memory
card-from-both = { $span }; partly from { $disk }, partly from memory
survey-from-disk = From { $disk }.
survey-from-memory = From memory, not from a disk.
survey-from-both = Partly from { $disk }, partly from memory.
card-steal = Steal: { $share } of the CPU time
claimed-label = As claimed
claimed-some-less = Less than claimed: { $names }.
claimed-some-yes = Agrees: { $names }.
claimed-some-open = Not judged: { $names }.
claimed-title = Is it what it claims to be?
claimed-caption = What the machine says of itself, and what was measured
claimed-what = What
claimed-says = The machine says
claimed-measured = Measured here
claimed-agrees = Agrees
claimed-yes = yes
claimed-less = no, less
claimed-open = not judged
claimed-cpus = CPUs
claimed-no-quota = no quota of CPU time
claimed-quota = a quota of { $quota }
claimed-time = CPU time
claimed-all-time = all of it
claimed-steal = { $share } taken by the hypervisor
claimed-apart = { $levels }: each certainly differs from the next
claimed-alike = not told apart: { $levels }
claimed-line = Line rate of { $adapter }
claimed-note = No price is known here. What is “not judged” was not measured, or not with certainty.
records-title = Beside other machines
records-worse = Worse than all other machines on record: { $names }.
records-better = Better than all: { $names }.
records-inside = { $inside } of { $count } figures lie within the range of { $machines } machines.
records-outside = { $name } ({ $here })
records-caption = Figures of this machine and of others
records-figure = Figure
records-here = This machine
records-others = Others
records-beside = Beside them
records-below = below
records-within = within
records-above = above
records-other = { $value }, { $kind } ({ $machine }, { $year })
records-low = low
records-usual = usual
records-high = high
records-note = Others are a scale, not a competition: published tests used other programs, and the guests of stend had other neighbours.
