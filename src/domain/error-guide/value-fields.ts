import type { FieldGuide } from './guide.ts'

/** Rules that any field may break. */
export const valueFields = {
  amount_exceeds_available: {
    cause: 'The amount is larger than what can still be paid back. `max_available_refund_amount` is the most.',
    mend: 'Ask for at most `max_available_refund_amount`, or leave `amount` out to ask for all of it.',
    detail: 'At most 225 DKK.',
  },
  amount_not_positive: {
    cause: 'A refund pays something back. Only one that cancels the purchase may be of 0.',
    mend: 'Send an amount above 0, or 0 together with `cancel_purchase`.',
    detail: 'More than 0; 0 only together with cancel_purchase.',
  },
  exactly_one_target: {
    cause: 'A refund is of one purchase, one order or one payment; none or several were named.',
    mend: 'Send exactly one of `purchase_id`, `order_id` and `transaction_id`.',
    detail: 'Exactly one of purchase_id, order_id and transaction_id.',
  },
  required: {
    cause: 'The field is missing, and the operation needs it.',
    mend: 'Send the field.',
    detail: 'This field is required.',
  },
  null: {
    cause: 'The field was sent as null, and always has a value.',
    mend: 'Send a value, or leave the field out.',
    detail: 'May not be null.',
  },
  blank: {
    cause: 'The text is empty, or nothing but white space.',
    mend: 'Send at least one letter.',
    detail: 'May not be blank.',
  },
  invalid: {
    cause: 'The value does not have the form that the field takes.',
    mend: 'Send it in the form that `detail` or the documentation of the operation shows.',
    detail: 'Must have 1 to 255 characters.',
  },
  invalid_type: {
    cause: 'The value is of another JSON type than the field.',
    mend: 'Send the type that `detail` names: a number without quotes, a text with them.',
    detail: 'Expected string.',
  },
  invalid_choice: {
    cause: 'The value is not one of those that the field takes.',
    mend: 'Send one of the values that `detail` lists, spelled exactly as there.',
    detail: 'One of transactional, marketing.',
  },
  part_size: {
    cause: 'A part of an upload has more or fewer bytes than the others. Only the last one may be smaller.',
    mend: 'Cut the file into parts of `part_size` bytes.',
    detail: 'Part 1 has 8388608 bytes.',
  },
  max_length: {
    cause: 'The text has more characters than the field holds.',
    mend: 'Shorten the text to the length that `detail` names.',
    detail: 'At most 200 characters.',
  },
  min_length: {
    cause: 'The text has fewer characters than the field needs.',
    mend: 'Send at least as many characters as `detail` names.',
    detail: 'At least 2 characters.',
  },
  invalid_cursor: {
    cause: 'The cursor does not come from a list of this service.',
    mend: 'Take the whole address from `next`, or leave `cursor` out and name the `page`.',
    detail: 'A cursor comes from `next`.',
  },
  holds_address: {
    cause: 'The name of a sender contains something that looks like an e-mail address.',
    mend: 'Send the name alone.',
    detail: 'An address is not part of a name.',
  },
  unknown_field: {
    cause:
      'The operation has no such field, or the field is set by a change (PATCH) and not when the resource is made.',
    mend: 'Send the field under the name that `detail` proposes, or leave it out.',
    detail: 'This field does not exist. Did you mean `events`?',
  },
  unknown_parameter: {
    cause: 'The operation has no such parameter.',
    mend: 'Send the parameter under the name that `detail` proposes, or leave it out.',
    detail: 'This parameter does not exist. Did you mean `page_size`?',
  },
  invalid_id: {
    cause: 'The value is not an id of the kind that belongs here.',
    mend: 'Send an id that begins with the letters that `detail` names.',
    detail: 'Must be an id that begins with `org_`.',
  },
  repeated: {
    cause: 'The parameter appears several times in the query but takes one value.',
    mend: 'Send the parameter once.',
    detail: 'This parameter is sent 2 times. Send it once.',
  },
  max_items: {
    cause: 'The list or object has more items than the field takes.',
    mend: 'Send fewer items, or several requests.',
    detail: 'At most 100 items.',
  },
  min_items: {
    cause: 'The list has fewer items than the field needs.',
    mend: 'Send at least as many items as `detail` names.',
    detail: 'At least 2 items.',
  },
  max_value: {
    cause: 'The number is larger than the field takes.',
    mend: 'Send a number up to the one that `detail` names.',
    detail: 'At most 1000.',
  },
  min_value: {
    cause: 'The number is smaller than the field takes.',
    mend: 'Send a number from the one that `detail` names.',
    detail: 'At least 1.',
  },
  max_decimal_places: {
    cause: 'The amount has more digits after the point than the currency.',
    mend: 'Round the amount to the digits that `detail` names.',
    detail: 'At most 2 decimals.',
  },
  too_deep: {
    cause: 'The objects and lists of the body are nested too deeply.',
    mend: 'Send a flatter value.',
    detail: 'Must have at most 64 levels.',
  },
  invalid_characters: {
    cause:
      'The text contains characters that cannot be stored or shown: NUL, half of a surrogate pair, or a line break in one line.',
    mend: 'Take these characters out.',
    detail: 'Must not contain NUL characters or half surrogate pairs.',
  },
  invalid_utf8: {
    cause: 'The body is not encoded as UTF-8.',
    mend: 'Encode the body as UTF-8.',
    detail: 'The body is not valid UTF-8.',
  },
  invalid_json: {
    cause: 'The body cannot be read as JSON.',
    mend: 'Let a library write the JSON. Look for a comma at the end, single quotes and comments.',
    detail: 'The body is not valid JSON: Unexpected token',
  },
  invalid_email: {
    cause: 'The text is not an e-mail address.',
    mend: 'Send one address such as `ada@example.com`, without a name.',
    detail: 'This is not an e-mail address.',
  },
  invalid_phone: {
    cause: 'The text is not a telephone number.',
    mend: 'Send the number with its country code, such as `+4532123456`.',
    detail: 'This is not a telephone number.',
  },
  invalid_date: {
    cause: 'The text is not a date and time, or names a day that does not exist.',
    mend: 'Write it as `2026-06-01T10:00:00Z`.',
    detail: 'A date and time as in 2026-06-01T10:00:00, with or without an offset.',
  },
  in_past: {
    cause: 'The time is in the past.',
    mend: 'Send a time that is still to come.',
    detail: 'This time is past.',
  },
  in_future: {
    cause: 'The time has not come yet.',
    mend: 'Send a time in the past.',
    detail: 'This time has not come yet.',
  },
  too_early: {
    cause: 'The time is earlier than allowed.',
    mend: 'Send a time from the one that `detail` names.',
    detail: 'Not before 2026-06-01T08:00:00.000Z.',
  },
  too_late: {
    cause: 'The time is later than allowed.',
    mend: 'Send a time up to the one that `detail` names.',
    detail: 'At the latest 2027-06-01T10:00:00.000Z.',
  },
  end_before_start: {
    cause: 'The end lies before the start.',
    mend: 'Send an end that is not before the start, or both in one request.',
    detail: 'The end is before the start.',
  },
  unique: {
    cause: 'Another resource has this value already, and the value must be unique.',
    mend: 'Choose another value, or change the one that has it.',
    detail: 'This slug is taken.',
  },
  duplicate: {
    cause: 'The value appears twice in the request.',
    mend: 'Send each value once.',
    detail: 'Another block has this id.',
  },
  does_not_exist: {
    cause: 'Nothing has this id, or you may not see what has it. The answer is the same in both cases.',
    mend: 'Check the id. Look it up in the list of the resource, with the same token.',
    detail: 'Object does not exist.',
  },
  required_filter: {
    cause: 'The list is too large without a filter.',
    mend: 'Give at least one of the parameters that `detail` names.',
    detail: 'Give organization_id or edition_id.',
  },
  unknown_language: {
    cause: 'The key is not a language of the service.',
    mend: 'Use `en`, `da`, `se`, `nl` or `pl`.',
    detail: 'One of en, da, se, nl, pl.',
  },
} as const satisfies Record<string, FieldGuide>
