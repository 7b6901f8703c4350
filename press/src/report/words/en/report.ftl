kicker = Run { $run }, { $started }, stend { $version }; { $machine }; { $lab }
kicker-survey = { $started }, stend { $version }; { $machine }; { $lab }
watermark-simulated = Simulation: hosts, links and clocks are a model. Nothing was measured.
watermark-emulated = Emulation: software computes these machines. What their drivers accept is true; no figure tells the speed of hardware.
survey-title = This machine
survey-question = What is it, what does it carry, and how steady is it?
survey-question-tune = What could it gain by other settings?
box-not-decided = Caveats, the gravest first
survey-noise = Noise floor: { $metric } of one set-up against itself, { $effect }

reproduce-title = Reproduce
reproduce-intro = This command repeats the run in the same order; its seed is { $seed }. Figures vary between runs by the width of their intervals.
reproduce-command = Command as recorded; read it before you run it
reproduce-plan = Plan as written
reproduce-resolved = Plan as resolved, every default written out

aa-title = A against A: { $title }
aa-question = How large a difference does this machine show between equal levels?
aa-factor = itself
aa-level = as set
aa-again = { $level } again

appendix-title = Appendix
appendix-runs = { $repeat ->
    [boot] The mean of every boot, by round: { $name }
   *[block] The figure of every counted trial, by block: { $name }
}
appendix-gaps = { $repeat ->
    [boot] –: no attempt of that boot gave a valid figure. The boot beside it, of the same point and round, is in no ratio.
   *[block] –: no attempt gave a valid figure. The trial beside it, of the same point and block, is in no ratio.
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
quantiles-none = The spread of single { repeat-trials } cannot be told. The middle one has an interval from { $median } { repeat-trials } on, the worst of ten from { $worst } on.
appendix-left-out = Invalid attempts, in no figure
appendix-no-faults = No attempt was invalid.
appendix-trial = Trial
appendix-attempt = Attempt
appendix-trial-block = Block
appendix-levels = Levels
appendix-load = Load
appendix-fault = What happened
appendix-seen = Figures (not counted)
counted-caption = Counters of meters and adapters, and drops by their cause, in the valid attempts
counted-what = Probe and reading
counted-visits = Attempts
counted-median = Median
counted-most = Most
counted-note = Energy and power are of the window. Pause frames, and errors that only a driver names, are counted from before the load to after its end, and so are drops. A drop stands with the attempts that had one. Of foreign programs the three are named that took most CPU.
appendix-facts = Everything that was read from the machine
appendix-key = Key
appendix-value = Value
appendix-source = Source
word-dry = dry
fault-dead-host = host { $host } died
fault-frozen = host { $host } did not answer in time
fault-wrong-work = wrong work: { $what }
fault-dead-stream = stream { $stream } moved nothing
fault-factor = a factor was not applied: { $what }
fault-disturbed = host { $host } was disturbed: { $what }
fault-failed = host { $host } failed: { $what }
fault-steal = the hypervisor took { $share } of the CPU time
fault-throttled = host { $host }: a CPU was throttled, { $what }
fault-link-flap = host { $host }: a link flapped, { $what }
fault-generator-limit = host { $host } was at its limit as a generator: { $what }
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
card-noise = Noise floor: { $effect }, a level against itself
card-no-noise = Noise floor: not measured
card-verdict = { $sign } { $effect } { $names }
card-open = { $names }; { $blocks }
card-left-out = Left out for lack of time: { $parts }; repeat on a quieter machine
card-roof = Roofs of { $level }: { $requests } up to { $size }, { $rate } beyond
card-limit = Limit: { $causes }
card-limit-network = Limit of the network: { $causes }
card-no-limit = Limit: not determined
card-doubt = Caveat: { $doubt }
card-no-doubt = Caveats: the checks found none
card-report = Report: { $path }
card-next = Next: { $command }
