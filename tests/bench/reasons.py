"""Why two readings of a transcript may differ: {kind of difference: (what it is, why ours reads it so)}."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, tuple[str, str]]] = {
    "result-without-call": (
        "A result that answers no call",
        "The other reading drops it and says so. The file holds it, though: a tool gave this output,"
        " and what is missing is the call. We keep the result, count the loss in the receipt, and an"
        " export states it among the reasons why it is not complete. Of several results of one call, the"
        " first that comes answers it.",
    ),
    "call-id-renamed": (
        "A call whose id was given before",
        "The other reading renames the second call, so that its ids are unique. An id is what the"
        " source gave: we keep it as it is and pair by occurrence, the k-th result with the k-th call."
        " Both readings pair these calls and results alike.",
    ),
    "call-id-prefixed": (
        "A call that the source gave no id of its own",
        "OpenHands results then name the action that they answer. We take the action's id as it stands;"
        " the other reading puts a prefix of its own before it.",
    ),
    "arguments-wrapped": (
        "Arguments that are no object",
        "Both readings wrap what cannot be an object, and lose nothing. Ours tells two cases apart, as"
        " the record contract does: `_legacy_fragment` holds text that does not parse, `_value` holds"
        " JSON that is something else. The other reading has one name, `_raw`, for both, and for JSON"
        " only its text.",
    ),
    "tool-name-made-up": (
        "A call that names no tool",
        "The other reading calls the tool `unknown_tool`, which is a name like any other. A name that"
        " nobody gave stays empty with us: unknown is not invented.",
    ),
    "failure-unsaid": (
        "A failure that only the kind of the record tells",
        "An `AgentErrorEvent` and a `UserRejectObservation` of OpenHands have no error flag, so the"
        " other reading leaves open whether the call succeeded. The kinds say it: the one is an error,"
        " the other an action that was never carried out. We set `is_error`.",
    ),
    "error-prefix": (
        "`Error: ` before the result of a failed call",
        "The prefix is the other reading's: the file has the text without it, and an error flag beside"
        " it. We keep the text as the model was given it, and the flag as a flag.",
    ),
    "result-unwrapped": (
        "The text of a result, or the object around it",
        "Gemini CLI wraps a tool's text into `{output: …}` or `{error: …}`. The other reading takes the"
        " text out of the first and shows the second as JSON. We take it out of both; which of the two"
        " it was is what `is_error` and the status say.",
    ),
    "reference-as-text": (
        "A reference to a sub-agent in the place of a result",
        "The step has no content: it only refers to the trajectory of a sub-agent. The other reading"
        " writes the reference as JSON and calls that the tool's output. We record that the sub-agent"
        " started and stopped, with the reference in both events, and a result without content.",
    ),
    "picture": (
        "`[image]` in the text",
        "Nobody said this: it stands where a picture was. We keep the text as it was said and the"
        " picture as an attachment, its bytes or, where the file only points to it, the reference.",
    ),
    "thought-or-text": (
        "What was said before a call: text or thought",
        "In OpenHands the text of a response that also calls a tool is named `thought`; the program"
        " sends it back to the model as the content of that message, and reasoning as a field of its"
        " own, `reasoning_content`. So it is text that the model said, and we read it as such. The other"
        " reading goes by the field's name.",
    ),
    "thoughts-joined": (
        "How the subject and the description of a thought are joined",
        "Gemini CLI keeps the two apart. We put them on lines of their own, the other reading joins"
        " them with a dash. Neither form is in the file, and neither loses anything.",
    ),
    "observation-beside": (
        "An observation that belongs to no call",
        "The other reading has a role of its own for it. The record contract has no such kind, and it"
        " is no result: no call was open. We keep it as `legacy.imported` with the operation"
        " `observation`.",
    ),
    "message-left-out": (
        "A message that the other reading leaves out without a word",
        "An OpenHands message without an id is a message all the same. We keep it; records without an"
        " id are known by their place.",
    ),
    "rewound": (
        "A message that was taken back",
        "Hermes marks rows that a rewind took back, and keeps them. So do we, on a branch marked as"
        " abandoned; exports to training formats leave that out and say so. The other reading drops the"
        " row silently.",
    ),
    "sub-agent": (
        "Sub-agents",
        "The other reading relates no trajectory to another: it drops a sub-agent's messages, with a"
        " diagnostic, or reads a sub-agent's file like any session. We keep them as a session of their"
        " own, linked to its parent.",
    ),
    "kept-beside": (
        "Records that are no messages",
        "States of the program, hooks, what the harness put before the model, records and blocks of"
        " unknown kinds. The other reading drops them, some with a diagnostic. We keep each as"
        " `legacy.imported`: nothing is lost silently, and every record of a file is accounted for.",
    ),
    "usage": (
        "What model calls took",
        "The other reading has no place for usage. We record it once for each response; what a source"
        " does not report stays null.",
    ),
    "one-model": (
        "More than one model",
        "The other reading names one model for a whole file. Responses of one session may come from"
        " several, so we name the model of each. `delivery-mirror` is what OpenClaw writes for text that"
        " no model wrote: it is kept, and the message is marked as synthetic.",
    ),
    "time-made-up": (
        "Times where the file has none",
        "Both readings say that these times are not the source's. The other one sets them 15 seconds"
        " apart, from the beginning of 2026; that looks like a measure. With us everything stands at one"
        " moment, Unix time 0, and the rule is named at each event: order is all that the file tells.",
    ),
    "time-unmarked": (
        "A neighbour's time",
        "The source gives this part no time. Both readings take that of the record before it; ours says"
        " so at the event (`_derived.occurred_at`), the other does not.",
    ),
    "time-zone-unmarked": (
        "A time without a zone",
        "Both readings take it for UTC. Ours says at the event that this is an assumption (`naive_as_utc`).",
    ),
}
