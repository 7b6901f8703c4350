kicker = Run { $run }, { $started }, stend { $version }
kicker-survey = { $started }, stend { $version }
survey-title = This machine
survey-question = What is it, how steady is it, and what makes a difference on it?
box-not-decided = What this does not decide
survey-noise = Noise floor: the same level against itself, { $effect }.

reproduce-title = Reproduce
reproduce-intro = The command below makes the run again in the same order: its seed is { $seed }. Figures differ from run to run by the width of their intervals.
reproduce-command = Command as the record has it; read it before you run it
reproduce-plan = Plan as written
reproduce-resolved = Plan as resolved, every default written out

aa-title = A against A: { $title }
aa-question = How different does the same look from itself here?
aa-factor = itself
aa-level = as it is
aa-again = { $level } again

appendix-title = Appendix
appendix-runs = { $repeat ->
    [boot] The mean of every boot, by round: { $name }
   *[block] The figure of every counted trial, by block: { $name }
}
appendix-gaps = { $repeat ->
    [boot] –: no visit of that boot gave a valid figure. The boot beside it, of the same point and round, is in no ratio.
   *[block] –: no visit gave a valid figure. The trial beside it, of the same point and block, is in no ratio.
}
appendix-point = Point
appendix-block = { $repeat ->
    [boot] Round { $number }
   *[block] Block { $number }
}
appendix-whole = whole
quantiles-caption = How single { repeat-trials } come out, { $metric }: { $name }
quantiles-middle = Middle { repeat-trial }
quantiles-worst = Worst of ten
quantiles-value = { $centre } ({ $range })
quantiles-needs = needs { $trials }
quantiles-note = Of a curve these are the two ends; the records have every point. Of ten { repeat-trials } one comes out worse than the worst of ten. Intervals lie between two of the { repeat-trials } and hold the quantile with { $level } or more, whatever the noise, as long as { repeat-trials } are independent draws; with fewer than are named a quantile has none.
quantiles-none = How bad a bad { repeat-trial } is cannot be said: the middle one has an interval from { $median } { repeat-trials } on, the worst of ten from { $worst } on.
appendix-left-out = Invalid visits, left out of every figure
appendix-no-faults = No visit was invalid.
appendix-trial = Trial
appendix-attempt = Visit
appendix-trial-block = Block
appendix-levels = Levels
appendix-load = Load
appendix-fault = What happened
appendix-seen = What was seen (not counted)
counted-caption = What meters and adapters of the machine counted in the valid visits
counted-what = Probe and reading
counted-visits = Visits
counted-median = Median
counted-most = Most
counted-note = Energy and power are of the window. Pause frames, and errors that only a driver names, are counted from before the load to after its end. Of foreign programs the three are named that took most CPU.
appendix-facts = Everything that was read from the machine
appendix-key = Key
appendix-value = Value
appendix-source = Source
word-dry = dry
fault-dead-host = host { $host } went away
fault-frozen = host { $host } did not answer in time
fault-wrong-work = wrong work: { $what }
fault-dead-stream = stream { $stream } moved nothing
fault-factor = a factor did not take: { $what }
fault-disturbed = host { $host } was disturbed: { $what }
fault-failed = host { $host } failed: { $what }
fault-steal = the hypervisor took { $share } of the CPU time
fault-throttled = host { $host }: a CPU was throttled, { $what }
fault-link-flap = host { $host }: a link flapped, { $what }
fault-generator = host { $host } was at its limit as a generator: { $what }
fault-not-available = not available here: { $what }
fault-not-steady = not steady: { $what }
fault-cancelled = stopped by the user

card-title = stend { $version }, { $started }; { $lab }
card-machine = { $model }, { $logical ->
    [one] { $logical } CPU
   *[other] { $logical } CPUs
}
card-kernel = kernel { $release }
card-adapter = { $name }: { $about }
card-adapters = { $adapter }; + { $more } more
card-no-adapter = No network adapter besides the loopback interface
card-driver-unknown = driver unknown
card-speed = { $now }
card-speed-below = { $now } of { $best }
card-no-speed = no line rate
card-noise = Noise floor: { $effect }, the same against itself
card-no-noise = Noise floor: not measured
card-verdict = { $sign } { $effect } { $names }
card-open = { $names }; { $blocks }
card-not-measured = Not measured here: { $factors }; they need links of their own
card-not-measured-why = Not measured here: { $factors } – { $why }
card-left-out = No time left for: { $parts }; start it again on a quieter machine
card-roof = Roofs of { $level }: { $requests } up to { $size }, { $rate } beyond
card-limit = Limit: { $causes }
card-no-limit = Limit: none looked for
card-doubt = Doubt: { $doubt }
card-no-doubt = Doubt: none found by the checks
card-report = Report: { $path }
card-next = Next: { $command }
