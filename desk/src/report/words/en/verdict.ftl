# Names given by people stand in nominative slots and are never inflected.

effect-ratio = { $ratio } ({ $level } interval { $range })
effect-change = { $change } ({ $level } interval { $low } to { $high })
effect-short-ratio = { $ratio } ({ $range })
effect-short-change = { $change } ({ $low } to { $high })

verdict-better = { $other } is better than { $base }: { $metric } { $effect }.
verdict-better-inside = { $other } is ahead of { $base }, but by less than the margin of { $margin }: { $metric } { $effect }.
verdict-worse = { $other } is worse than { $base }: { $metric } { $effect }.
verdict-worse-inside = { $other } is behind { $base }, but by less than the margin of { $margin }: { $metric } { $effect }.
verdict-equivalent = No difference that matters between { $other } and { $base }: { $metric } { $effect }, within the margin of { $margin }.
verdict-undecided = Undecided between { $other } and { $base }: { $metric } { $effect }, against a margin of { $margin }.
verdict-undecided-more = Undecided between { $other } and { $base }: { $metric } { $effect }, against a margin of { $margin }; { $blocks ->
    [one] { $blocks } more block would probably decide it.
   *[other] { $blocks } more blocks would probably decide it.
}

headline-all-better = { $other } is better than { $base } in all { $count } comparisons: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-worse = { $other } is worse than { $base } in all { $count } comparisons: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-equivalent = No difference that matters between { $other } and { $base } in any of { $count } comparisons: { $metric } { $least } in the closest, { $most } in the widest.
headline-mixed = It depends. Of { $count } comparisons of { $other } with { $base }, { $better } came out better, { $worse } worse, { $even } equal within the margin and { $open } undecided.
headline-mixed-names = It depends. Of { $count } comparisons, { $better } came out better, { $worse } worse, { $even } equal within the margin and { $open } undecided.
headline-none = Nothing was compared: no comparison has enough counted trials.

region-ahead = { $leader } is ahead from { $from } to { $to }, by { $least } at the least and { $most } at the most.
region-ahead-point = { $leader } is ahead at { $from }, by { $least }.
region-ahead-short = { $leader } is ahead from { $from } to { $to }, by { $least } to { $most }.
region-ahead-point-short = { $leader } is ahead at { $from }, by { $least }.
region-even = They are equal within the margin from { $from } to { $to }.
region-even-point = They are equal within the margin at { $from }.
region-open = No difference was shown from { $from } to { $to }.
region-open-point = No difference was shown at { $from }.

word-better = ▲ better
word-worse = ▼ worse
word-equivalent = = equal
word-undecided = ? undecided
condition = { $name } { $value }
