"""What Schemathesis asks besides: that each refusal of a request that fits the document is one of these, for a reason."""

import itertools
import json
import os
import uuid

import schemathesis

CAMPAIGN_CHANGES = ["updateCampaign", "deleteCampaign", "scheduleCampaign", "sendCampaignNow", "cancelCampaign"]

# By code: the operations that may answer it, by what their ids begin with, and why the document cannot rule it out.
EXPLAINED = {
    "does_not_exist": ([""], "An id in a body or a filter names something that does not exist."),
    "not_found": ([""], "An id in a path names nothing."),
    "invalid_page": (["list"], "The page is past the end."),
    "invalid_cursor": (["list"], "The cursor does not come from the service."),
    "precondition_failed": ([""], "If-Match holds the ETag of nothing."),
    "unknown_field": ([""], "Bodies are open, since what was read may be sent back; nobody has read this field."),
    "unique": (["create", "add", "update", "duplicate"], "The name, the address, the slug or the domain is taken."),
    "required": (
        ["createAccessToken", "createEmailMessage", "duplicateEmailMessage"],
        "The superuser has no account and names a member; a copy or an edition's message names where it goes.",
    ),
    "required_filter": (["listOrders", "getCelContext", "validateCel"], "At least one of several is needed."),
    "scope_mismatch": (["createEmailMessage"], "A template has no edition."),
    "language_not_enabled": (["createEdition", "updateEdition"], "The default language is not among the enabled ones."),
    "invalid_choice": (["createEdition", "updateEdition"], "No time zone of that name."),
    "invalid_domain": (["createSenderDomain"], "No domain."),
    "invalid_date": (["scheduleCampaign"], "A time that fits the pattern and does not exist."),
    "invalid_phone": (["updateUser"], "No number of the country."),
    "invalid_email": (["addOrganizationMember", "updateUser"], "An address by its format that no mail goes to."),
    "end_before_start": (["createEdition", "updateEdition"], "The edition would end before it starts."),
    # What is there is in a state in which this cannot be done.
    "delivery_already_succeeded": (["retryWebhookDelivery"], "It has arrived."),
    "invalid_transition": (CAMPAIGN_CHANGES, "The campaign of the demonstration data is sent."),
    "last_admin": (["removeOrganizationMember"], "The last admin stays."),
    "nothing_to_retry": (["retryFailedCampaignRecipients"], "Nobody failed."),
    "scheduled_at_in_past": (["scheduleCampaign"], "The time is over."),
    "segment_not_ready": (["exportSegmentUsers"], "It is not calculated."),
}

# Fields in a language of their own, which a schema cannot describe: any of its errors may be answered.
LANGUAGES = {"expression": "CEL", "subject": "Liquid", "blocks": "Liquid and HTML", "sms_body": "Liquid"}

MAX_KEY_LENGTH = 255
counter = itertools.count()
run = uuid.uuid4().hex[:8]
record = os.environ.get("REFUSALS_RECORD")


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


def codes_of(document):
    errors = document.get("errors") or []
    if not errors:
        return [document.get("code")]
    return sorted({error["code"] for error in errors if (error["attr"] or "").split(".")[0] not in LANGUAGES})


@schemathesis.check
def refusals_are_explained(ctx, response, case):
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if not is_positive or response.status_code < 400 or response.status_code in (401, 405):
        return
    name = case.operation.definition.raw["operationId"]
    unexplained = [
        code
        for code in codes_of(json.loads(response.content))
        if not any(name.startswith(beginning) for beginning in EXPLAINED.get(code, ([], ""))[0])
    ]
    if record:
        with open(record, "a") as file:
            for code in unexplained:
                file.write(f"{response.status_code} {code} {name} {response.content[:600]!r}\n")
    assert not unexplained, f"{name} refuses what the document allows: {', '.join(map(str, unexplained))}"
