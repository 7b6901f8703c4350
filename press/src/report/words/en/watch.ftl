# A run on a screen while it is measured.

watch-head = { $title }
watch-run = Run { $run }: { $state }
watch-run-last = No run is open. Last run { $run }: { $state }
watch-running = running
watch-complete = complete
watch-incomplete = complete, but too few trials are valid
watch-partial = partial: { $why }
watch-interrupted = interrupted; `stend resume` continues it
watch-where = { $machine }; { $lab }
watch-part = Part { $at } of { $of }. Tab shows the next.
watch-block = block { $block } of { $blocks }
watch-dry = dry attempts
watch-trials = { $done } of { $planned } trials
watch-left = about { $time } left
watch-none = { $path } holds no run yet.

watch-comparisons = Comparisons
watch-comparisons-so-far = Comparisons so far; a verdict holds only at the end
watch-measured = Figures
watch-measured-so-far = Figures so far
watch-comparison = { $word }: { $pair }: { $metric } { $effect }, { $n ->
    [one] { $n } { repeat-one }
   *[other] { $n } { repeats }
}
watch-few = ? too few { repeats }
watch-no-comparison = No comparison has enough trials yet.

watch-limits = Limits
watch-limit = { $level }: { $limit }, { $share } in use
watch-limit-unseen = { $level }: { $limit }; CPUs { $share } busy
watch-rivals = { $limit }; not full: { $rivals }
watch-rival = { $limit } { $share }
watch-no-limits = Not determined yet.

watch-trial = Last trial
watch-trial-figure = { $place }: { $figure }
watch-trial-fault = { $place }: invalid, { $fault }
watch-trial-none = { $place }: no figure
watch-in-block = block { $block }
watch-in-boot = boot { $boot }, block { $block }
watch-in-dry = dry attempt
watch-cpu = CPU: { $parts }
watch-cpu-machine = { $share } of the machine
watch-cpu-server = server { $cpus }
watch-cpu-clients = clients { $cpus }
watch-cpu-relay = relay { $cpus }
watch-packets = { $rate }
watch-hottest = hottest sensor: { $degrees }

watch-course = Trials in order: { $metric }
watch-course-ratio = Trials in order, each over the mean of its level and load
watch-all = all trials

watch-faults = Invalid attempts: { $count }

watch-keys = q quit · j k scroll · ? help
watch-keys-parts = q quit · j k scroll · Tab next part · ? help
watch-help = Keys
watch-help-quit = q, Esc, Ctrl-C: quit. The run goes on.
watch-help-scroll = Arrows, j, k, PgUp, PgDn: scroll the first list
watch-help-part = Tab, Shift-Tab: next and previous part of a survey
watch-help-verdict = The interval is that of the blocks so far. The run always goes on to the end of its plan.
watch-help-invalid = ○ in a line of trials: an invalid attempt
watch-help-colour = A level has the colour that it has in the figures of the report.
watch-level = { $name } { $value }
