survey-machine = { $machine }: half of the figures below are known to within ±{ $half }, all to within ±{ $most } ({ $level } intervals)
survey-machine-plain = { $machine }
tune-gain = { $title }: { $then } instead of { $now } gives { $metric } { $effect }{ $where }
tune-nothing = Nothing to gain: of { $count ->
    [one] the { $count } setting
   *[other] the { $count } settings
} tried, none is better than the machine as set by more than the margin
tune-usual = Nothing to gain: every setting that was looked at has its usual level
tune-where-network = , on paths without round-trip time
tune-where-line = , as far as the line of the adapter carries
tune-where-memory = , for programs that use much memory at random
tune-where-work = , for work that fills a CPU
tune-title = What to do
tune-command = { $title }, as root
tune-keep = To keep it over a boot: “{ $line }” in { $file }.
tune-by-hand = Remove what calls tc at boot, or it comes back.
tune-looked = Looked at: { $settings }.
tune-quota-label = Not switched
tune-quota = A quota of { $quota } of CPU time holds this machine down. Whoever runs its control group can raise it.
