# The canonical stream of a request of `data.py`: what `benches/peers` measures as jq and jaq, without a digest.
def message($role; $text): {role: $role, content: [{type: "text", text: $text}]};

(.observation_template / "{observation}") as [$before, $behind]
| (.prefix[] | message(.role; .content)),
  (.injections | to_entries | sort_by(.key)[] | .value[] | message("user"; .content)),
  (.goal[] | message(.role; .content)),
  (.trajectory[] | message("assistant"; .raw_output), message("user"; $before + .observation + $behind))
