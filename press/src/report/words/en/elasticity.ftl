# What held a load down: each resource is taken down by a step, and what that costs is its share.

elastic-title = Sensitivity to each resource: { $title }
elastic-question = How much does each resource limit the load?
elastic-as-is = as is
elastic-section = Shares of the cause
elastic-under = With { $condition }: { $sentence }
elastic-one-headline = { $resource } holds the { $metric } down: its share of the cause is { $share } ({ $range }).
elastic-several-headline = These hold the { $metric } down, by their shares of the cause: { $causes }.
elastic-none-headline = Nothing that was taken down here holds the { $metric } down.
elastic-open-headline = What holds the { $metric } down cannot be told: the shares are too uncertain.
elastic-item = { $resource } { $share } ({ $range })
elastic-all = About all of the cause: { $share } ({ $range }). From { $full } to { $down } the { $metric } changes by { $effect }.
elastic-part = A part of the cause: { $share } ({ $range }). From { $full } to { $down } the { $metric } changes by { $effect }.
elastic-none = About none of the cause: { $share } ({ $range }). From { $full } to { $down } the { $metric } changes by { $effect }.
elastic-open = Too uncertain to say: { $share } ({ $range }). From { $full } to { $down } the { $metric } changes by { $effect }; more { repeats } would tell.
elastic-not-reached = Not told: of { $down } only { $used } were used, so that the quota held nobody. Its threads may still be slow, one by one: only slower CPUs would tell.
elastic-beyond = More than all of the cause: { $share } ({ $range }), so the model fails for this resource. From { $full } to { $down } the { $metric } changes by { $effect }, more than the resource did.
elastic-reserve = None of the cause: as it is, { $used } of it was in use. It became full only when taken down from { $full } to { $down }; beyond that its share is { $share } ({ $range }).
elastic-too-much = Together the shares come to { $share } ({ $range }), more than all of the cause: the model of shares fails for this load, so read each as an effect and not as a part.
elastic-fixed = { $resource } was not taken down: { $why }.
elastic-shows = { $figure } shows what each resource has of the cause, as each was taken down by about { $step } while all others stayed as they were.
elastic-left = Together the shares come to { $share } ({ $range }); { $left } ({ $left_range }) of the cause is in nothing that was taken down here.
elastic-whole = Together the shares come to { $share } ({ $range }), which leaves nothing that is sure to be elsewhere.
elastic-reading = A share is the change of the figure over the change of the resource, both in logarithms: a resource that alone holds the load down has all of the cause, one that is not needed has none. Where bytes wait in one resource after the other, each has the share of its time.
elastic-axis = Share of the cause
elastic-no-share = none
elastic-all-share = all
elastic-subtitle = Of the { $metric }, with { $level } intervals
elastic-resource = Resource
elastic-taken = Taken down
elastic-effect = Effect
elastic-share = Share of the cause
elastic-range = { $low } to { $high }
elastic-from-to = { $full } to { $down }
elastic-share-of = { $share } ({ $range })
elastic-caption = { $count ->
    [one] The resource that was taken down
   *[other] The resources that were taken down, one at a time
}
