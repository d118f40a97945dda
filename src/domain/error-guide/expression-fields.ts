import type { FieldGuide } from './guide.ts'

const number: FieldGuide = {
  cause: 'The digits do not form a number.',
  mend: 'Write numbers as 1000 or 0.5.',
  detail: 'This is not a number: write 1000 or 0.5.',
}

const escape: FieldGuide = {
  cause: 'The characters after a backslash in a text do not name a letter.',
  mend: 'Write \\\\ for a backslash, and \\u00e6 for a letter by its number.',
  detail: '`\\d` means nothing in a text: a backslash is written `\\\\`.',
}

/** The faults of a segment's expression; `start` and `end` are the place. */
export const expressionFields = {
  empty: {
    cause: 'The expression has no text.',
    mend: 'Write a condition, such as `stats.order_count >= 1`. `true` is everybody.',
    detail: 'The expression is empty.',
  },
  unexpected_character: {
    cause: 'The language does not have the character at the named place.',
    mend: 'Follow `detail`: it names what to write in its place.',
    detail: '`=` does not compare: use `==`.',
  },
  unexpected_token: {
    cause: 'At the named place something is missing or written twice.',
    mend: 'Follow `detail`: it names what is missing.',
    detail: 'The expression ends where a value is missing.',
  },
  expected_token: {
    cause: 'A bracket is not closed, or a part of a choice is missing.',
    mend: 'Follow `detail`: it names the bracket or the part.',
    detail: 'This `(` is not closed: a `)` is missing.',
  },
  reserved_identifier: {
    cause: 'The word is kept for other uses of the language.',
    mend: 'Choose another name; conditions are written `condition ? yes : no`.',
    detail: '`if` is not a name here. A choice is written `condition ? yes : no`.',
  },
  unterminated_string: {
    cause: 'A text has no end.',
    mend: 'Close the text with the same quote that it begins with. A quote inside of it is written with a backslash.',
    detail: 'The text that begins here has no end: a `"` is missing.',
  },
  unterminated_triple_quoted_string: {
    cause: 'A text in three quotes has no end.',
    mend: 'Close the text with the same three quotes.',
    detail: 'The text that begins here has no end: a `"""` is missing.',
  },
  newline_in_string: {
    cause: 'A text in single or double quotes goes over the end of its line.',
    mend: 'Close the text before the line ends, or write \\n.',
    detail: 'The text has no end in this line: a `"` is missing.',
  },
  invalid_escape_sequence: escape,
  invalid_hex_escape: escape,
  invalid_octal_escape: escape,
  octal_escape_out_of_range: escape,
  invalid_unicode_escape: escape,
  invalid_unicode_surrogate: escape,
  bytes_unicode_escape: escape,
  invalid_number: number,
  invalid_integer: number,
  invalid_hex_integer: number,
  invalid_exponent: number,
  invalid_string: {
    cause: 'The text contains a character that cannot be stored.',
    mend: 'Remove the character.',
    detail: 'A text contains neither U+0000 nor half of a surrogate pair.',
  },
  integer_out_of_range: {
    cause: 'The number needs more than 64 bits.',
    mend: 'Write a smaller number.',
    detail: 'Integers have 64 bits.',
  },
  invalid_timestamp: {
    cause: 'The text in timestamp() is not a time.',
    mend: 'Write it as timestamp("2026-06-01T08:00:00Z").',
    detail: 'This timestamp cannot be read. Write it as 2026-06-01T08:00:00Z.',
  },
  invalid_duration: {
    cause: 'The text in duration() is not a length of time. Its largest unit is the hour.',
    mend: 'Write it as duration("72h"). A day is 24h.',
    detail: 'This duration cannot be read. Write it as 72h, 90m or 1h30m.',
  },
  unknown_variable: {
    cause: 'There is no variable of this name.',
    mend: 'Use the name that `detail` proposes. `GET /v1/segments/cel-context` lists all.',
    detail: 'There is no variable `order`. Did you mean `orders`?',
  },
  no_such_key: {
    cause: 'The value before the point has no such field.',
    mend: 'Use the name that `detail` proposes. `GET /v1/segments/cel-context` lists all.',
    detail: 'The user has no field `emial`. Did you mean `email`?',
  },
  unknown_function: {
    cause: 'There is no function of this name.',
    mend: 'Use the name that `detail` proposes. `GET /v1/segments/cel-context` lists all.',
    detail: 'There is no function `count`. Did you mean `size`?',
  },
  function_not_allowed: {
    cause: 'The language has this function, but segments cannot use it.',
    mend: 'Do what `detail` says.',
    detail: 'Regular expressions are not supported: use contains, startsWith or endsWith.',
  },
  unsupported: {
    cause: 'The language has this, but segments cannot use it.',
    mend: 'Do what `detail` says.',
    detail: 'The elements of a list have to be written out.',
  },
  no_such_overload: {
    cause: 'The two sides of an operator are of types that do not go together.',
    mend: 'Write the value as `detail` shows.',
    detail: 'A text is compared with a whole number. Write "3".',
  },
  no_matching_overload: {
    cause: 'The function does not take an argument of this type.',
    mend: 'Give it what `detail` names.',
    detail: '`contains` needs a text, and this is a whole number.',
  },
  cannot_index_type: {
    cause: 'The value before the point has no fields.',
    mend: 'Fields of a list are asked with `exists`: orders.exists(o, o.status == "completed").',
    detail: 'A list of orders has no fields.',
  },
  invalid_logical_operand: {
    cause: 'Both sides of && and ||, and the value after !, have to be true or false.',
    mend: 'Compare the value with something.',
    detail: 'This has to be true or false, and is a text.',
  },
  invalid_condition_type: {
    cause: 'The condition before ? has to be true or false.',
    mend: 'Compare the value with something.',
    detail: 'This has to be true or false, and is a text.',
  },
  invalid_predicate: {
    cause: 'The condition of exists, all or filter has to be true or false.',
    mend: 'Compare the value with something.',
    detail: 'This has to be true or false, and is a whole number.',
  },
  invalid_macro_argument: {
    cause: 'exists, all, filter, map and has take a name or a field, and got something else.',
    mend: 'Write orders.exists(o, o.status == "completed"), or has(user.metadata.company).',
    detail: 'The first argument has to be the name of a variable.',
  },
  invalid_comprehension_range: {
    cause: 'exists, all, filter and map work on lists.',
    mend: 'Put a list before the point, such as orders.',
    detail: '`exists` needs a list, and this is the user.',
  },
  incompatible_ternary_branches: {
    cause: 'Both values of a choice have to be of the same simple type.',
    mend: 'Make both a text, or both a number.',
    detail: 'Both branches need the same simple type, and are a whole number and a text.',
  },
  heterogeneous_list_element: {
    cause: 'All elements of a list have to be of the same simple type.',
    mend: 'Write all as texts, or all as numbers.',
    detail: 'The elements of a list need the same simple type.',
  },
  always_there: {
    cause: 'has() is for metadata and consents. Other fields are always there, and may be null.',
    mend: 'Compare the field with null.',
    detail: 'This field is always there: compare it with null instead.',
  },
  not_boolean: {
    cause: 'The expression as a whole is a value, not a condition.',
    mend: 'Compare the value with something.',
    detail: 'A segment needs an expression that is true or false, and this is a whole number.',
  },
  limit_exceeded: {
    cause: 'The expression is longer, deeper or larger than one can be.',
    mend: 'Shorten it, or make two segments of it.',
    detail: 'An expression has at most 4000 characters.',
  },
  unknown_value: {
    cause: 'A warning: the value that the expression compares with does not exist, so no person meets the condition.',
    mend: 'Use the value that `suggestion` names. `GET /v1/segments/cel-context` lists the most frequent.',
    detail: 'There is no product "Day tiket". Did you mean "Day ticket"?',
  },
} as const satisfies Record<string, FieldGuide>
