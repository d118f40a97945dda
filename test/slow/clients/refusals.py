"""What Schemathesis checks besides: that a request which fits the document is refused only for a reason."""

import itertools
import json
import uuid

import schemathesis

# Codes of fields that say what a schema can say. A request that fits the document is refused with one of these only where
# the document cannot say it. All other codes are rules that no schema has, each with a page under /docs/errors.
SCHEMA_CODES = {
    "required", "null", "blank", "invalid", "invalid_type", "invalid_choice", "max_length", "min_length", "max_items",
    "min_items", "max_value", "min_value", "max_decimal_places", "repeated", "invalid_id", "unknown_field",
    "unknown_parameter",
}  # fmt: skip
EXPLAINED = {
    "invalid_choice": "No time zone of that name; a list of names in one text.",
    "max_length": "JSON of a client has a limit in bytes.",
    "required": "One of several is needed, or the superuser, who has no account, names a member.",
    "unknown_field": "Bodies are open, since what was read may be sent back; nobody has read this field.",
}

# Fields in a language of their own, which a schema cannot describe: any of its errors may be answered.
LANGUAGES = {
    "expression": "CEL", "subject": "Liquid", "preheader": "Liquid", "blocks": "Liquid and HTML", "sms_body": "Liquid",
}  # fmt: skip

MAX_KEY_LENGTH = 255
counter = itertools.count()
run = uuid.uuid4().hex[:8]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Keeps one request from deciding the answers to all that follow."""
    if case.operation.definition.raw.get("operationId") == "updateEdition" and isinstance(case.body, dict):
        # All that follows would be refused.
        if case.body.get("is_archived") is True:
            case.body["is_archived"] = False
    scenario = getattr(case.meta.phase.data, "parameter", None) if case.meta else None
    if scenario == "Authorization" and "Missing" in str(getattr(case.meta.phase.data, "description", "")):
        # The configured header would come back in.
        case.headers.pop("Authorization", None)
    key = (case.headers or {}).get("idempotency-key")
    # A key that comes again with another body is 422.
    if isinstance(key, str) and key.strip() and len(key) <= MAX_KEY_LENGTH:
        suffix = f"-{run}-{next(counter)}"
        case.headers["idempotency-key"] = key[: MAX_KEY_LENGTH - len(suffix)] + suffix


def unexplained_fields(errors):
    fields = (error for error in errors if (error["attr"] or "").split(".")[0] not in LANGUAGES)
    return sorted({error["code"] for error in fields} & SCHEMA_CODES - EXPLAINED.keys())


def is_documented(operation, status, code):
    """Operations share their responses, and their descriptions list the codes that are theirs alone."""
    raw = operation.definition.raw
    response = raw["responses"].get(str(status), {})
    name = response.get("$ref", "").split("/")[-1]
    if name:
        response = operation.schema.raw_schema["components"]["responses"][name]
    return f"`{code}`" in response.get("description", "") + raw.get("description", "")


@schemathesis.check
def refusals_are_explained(ctx, response, case):
    """A refusal has a code that the document names for the operation, and faults of fields have one of these reasons."""
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if not is_positive or response.status_code < 400 or response.status_code in (401, 405):
        return
    document = json.loads(response.content)
    name = case.operation.definition.raw["operationId"]
    code = document.get("code")
    assert is_documented(case.operation, response.status_code, code), f"{name} is not documented to answer {code}"
    unexplained = unexplained_fields(document.get("errors") or [])
    assert not unexplained, f"{name} refuses what the document allows: {', '.join(unexplained)}"
