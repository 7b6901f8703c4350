survey-machine = { $machine }: { $told }
survey-inside = Network figures are of virtual links inside this machine, not of an adapter ({ $lab })
survey-cause = Where the network was loaded: { $causes }.
survey-next = To try other settings of this machine, each undone afterwards: stend survey --tune
survey-steady-label = How sure
survey-steady = Half of these figures are known to within ±{ $half }, all to within ±{ $most } ({ $level } intervals).
survey-machine-plain = { $machine }
tune-gain = { $title }, { $then } instead of { $now }: { $metric } { $effect }{ $where }
tune-nothing = Nothing to gain: { $count ->
    [one] the { $count } setting tried is not better than the machine as set
   *[other] none of the { $count } settings tried is better than the machine as set
}
tune-open = No gain is certain: of { $count ->
    [one] { $count } setting
   *[other] { $count } settings
} tried, { $open } undecided, none better than the machine as set
tune-untried = No setting was tried. There was something to try at: { $names }
tune-usual = Nothing to gain: none of the settings looked at departs from its usual level
tune-where-trip = , on paths as short as the one measured (round trip { $trip })
tune-where-network = , on paths with almost no round-trip time
tune-where-offload = , measured on a virtual link: on an adapter it saves the work of CPUs
tune-where-line = , up to the line rate of the adapter
tune-where-line-unknown = , measured on a virtual link: the line rate of the adapter is not known and may allow less
tune-barred = Not tried
tune-barred-not-allowed = { $names }: this user may not choose the usual level.
tune-barred-no-links = { $names }: the lab has no links. Run as root, or allow user namespaces.
tune-barred-refused = { $names }: the machine does not let this user switch it.
tune-barred-model = { $names }: the lab is a model, which has no owner.
card-tried = { $sign } { $effect } { $title }, { $then } instead of { $now }
card-barred = Not tried: { $said }
tune-where-memory = , for programs that use much memory at random
tune-where-work = , for work that fills a CPU
tune-title = What to do
tune-section = Settings to change
tune-do = As root{ $where }: { $command } (the lines that keep it over a boot stand below)
tune-do-nothing = Leave the settings as they are.
tune-usual-label = As usual
tune-command = { $title }, as root
tune-keep = To make it permanent, write this line into { $file }:
tune-by-hand = Change the network configuration of the machine, too; otherwise the next boot sets it again.
tune-looked = { $settings }: at their usual level, with nothing to try.
tune-quota-label = Not switched
tune-quota = The control group of stend is limited to { $quota }. All figures have that limit.
