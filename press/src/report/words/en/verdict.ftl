# Names given by people stand in nominative slots and are never inflected.

# What n counts and what its pairs are of; $repeat is set by whoever asks.
repeats = { $repeat ->
    [boot] boots
    [mixed] blocks or boots
   *[block] blocks
}
repeat-one = { $repeat ->
    [boot] boot
    [mixed] block or boot
   *[block] block
}
repeat-place = { $repeat ->
    [boot] round
    [mixed] block or round
   *[block] block
}
repeat-visit = { $repeat ->
    [boot] boot
    [mixed] attempt or boot
   *[block] attempt
}
repeat-visits = { $repeat ->
    [boot] boots
    [mixed] attempts or boots
   *[block] attempts
}
repeat-trial = { $repeat ->
    [boot] boot
    [mixed] trial or boot
   *[block] trial
}
repeat-trials = { $repeat ->
    [boot] boots
    [mixed] trials or boots
   *[block] trials
}
repeat-places = { $repeat ->
    [boot] rounds
    [mixed] blocks or rounds
   *[block] blocks
}

effect-ratio = { $ratio } ({ $level } interval { $range })
effect-change = { $change } ({ $level } interval { $low } to { $high })
effect-plain = { $centre }
effect-exact = { $centre } (one { repeat-one }, so no interval)
effect-short-ratio = { $ratio } ({ $range })
effect-short-change = { $change } ({ $low } to { $high })

verdict-better = { $other } is better than { $base }: { $metric } { $effect }.
verdict-inside = No relevant difference between { $other } and { $base }: { $metric } { $effect }, a certain difference inside the margin of { $margin }.
verdict-worse = { $other } is worse than { $base }: { $metric } { $effect }.
verdict-equivalent = No relevant difference between { $other } and { $base } (two one-sided tests, margin { $margin }): { $metric } { $effect }. Collapses in fewer than { $unseen } of trials could go undetected.
verdict-looks-better = { $other } looks better than { $base }: { $metric } { $effect }; { $blocks } { repeats } are too few for a verdict.
verdict-looks-worse = { $other } looks worse than { $base }: { $metric } { $effect }; { $blocks } { repeats } are too few for a verdict.
verdict-undecided = Undecided between { $other } and { $base }: { $metric } { $effect }, margin { $margin }.
verdict-undecided-more = Undecided between { $other } and { $base }: { $metric } { $effect }, margin { $margin }. A decision takes { $blocks }.
further-blocks-exactly = { $low ->
    [one] { $low } further { repeat-one }
   *[other] { $low } further { repeats }
} ({ $level } interval)
further-blocks = { $low } to { $high } further { repeats } ({ $level } interval)
further-blocks-open = { $low } or more further { repeats }, perhaps beyond { $most } in all ({ $level } interval)

verdict-two-states = No single verdict between { $other } and { $base }: a level has two states and was fast or slow for a whole trial. { $metric } { $effect } only tells how often each state occurred.

verdict-unlike = { $other } and { $base } are not comparable: they used different engines or CPU features. Both figures stand without a verdict.
unlike-key = Not comparable{ $at }: { $key } is { $first } under { $base } and { $second } under { $other }.

headline-unlike = { $count } of { $of } comparisons { $count ->
    [one] has
   *[other] have
} no verdict: their sides used different engines or CPU features and are not comparable.
headline-not-among = { $count ->
    [one] { $count } difference is
   *[other] { $count } differences are
} certain taken alone but not among all { $of } comparisons together; the headline calls that undecided.
headline-primary = Primary comparison: { $sentence }
headline-primary-under = Primary comparison, with { $condition }: { $sentence }
besides-not-among = { $count ->
    [one] { $count } difference besides the primary comparison is
   *[other] { $count } differences besides the primary comparison are
} certain taken alone but not among those { $of } together, and not told as found.
headline-all-better = { $other } is better than { $base } in { $scope }: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-better-but = { $other } is better than { $base } overall in { $scope }, but { $but }. Over all points: { $metric } { $least } in the closest, { $most } in the widest.
headline-better-but = { $other } is better than { $base } overall, but { $but }. Over all points: { $metric } { $effect }.
headline-worse-but = { $other } is worse than { $base } overall, but { $but }. Over all points: { $metric } { $effect }.
headline-equivalent-but = No relevant difference between { $other } and { $base } overall, but { $other } is { $but }. Over all points: { $metric } { $effect }.
headline-undecided-but = Undecided overall with { $blocks } { repeats } between { $other } and { $base }, but { $other } is { $but }. Over all points: { $metric } { $effect }.
scope-both = both comparisons
scope-all = all { $count } comparisons
but-ahead = ahead { $places }
but-behind = behind { $places }
but-at = at { $from }
but-from = from { $from } to { $to }
but-under = { $places } with { $condition }
headline-all-worse = { $other } is worse than { $base } in { $scope }: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-worse-but = { $other } is worse than { $base } overall in { $scope }, but { $but }. Over all points: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-equivalent = No relevant difference between { $other } and { $base } in { $scope }: { $metric } { $least } in the closest, { $most } in the widest.
headline-all-equivalent-but = No relevant difference between { $other } and { $base } overall in { $scope }, but { $other } is { $but }. Over all points: { $metric } { $least } in the closest, { $most } in the widest.
headline-split = { $other } against { $base }: { $metric } { $sides }.
headline-under = With { $condition }, { $sentence }
split-side = { $effect } with { $condition }
split-side-even = { $effect } with { $condition } (inside the margin)
split-side-open = { $effect } with { $condition } (undecided)
headline-mixed = It depends. Of { $count } comparisons of { $other } with { $base }, { $tally }.
headline-neither = Neither of { $other } and { $base } is ahead: of { $count } comparisons, { $tally }.
headline-tally = Of { $count } comparisons, { $tally }.
tally-better = { $count } came out better
tally-worse = { $count } worse
tally-even = { $count } inside the margin
tally-open = { $count } undecided
tally-named = { $tally } ({ $names })
headline-none = Nothing was compared: no comparison has enough counted trials.

region-ahead = { $leader } is ahead from { $from } to { $to }, by { $near } at the least and { $far } at the most.
region-ahead-point = { $leader } is ahead at { $from }, by { $near }.
region-ahead-against = { $leader } is ahead from { $from } to { $to }; { $other } against { $base }: { $near } where they are closest, { $far } where they are widest apart.
region-ahead-against-point = { $leader } is ahead at { $from }; { $other } against { $base }: { $near }.
region-even = They are equal within the margin { $places }.
region-open = Undecided with { $blocks } { repeats } { $places }.

# The space after the sign is one that never ends a line.
sign-better = ▲
sign-worse = ▼
sign-equivalent = =
sign-undecided = ?
sign-two-states = ≷
sign-unlike = ≁
word-better = ▲ better
word-worse = ▼ worse
word-inside = = inside the margin
word-equivalent = = equal
word-two-states = ≷ two states
word-unlike = ≁ not comparable
word-undecided = ? undecided
word-seems-higher = ? looks higher; too few { repeats }
word-seems-lower = ? looks lower; too few { repeats }
condition = { $name } { $value }
