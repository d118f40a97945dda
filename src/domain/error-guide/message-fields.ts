import type { FieldGuide } from './guide.ts'

/** Rules of messages and their templates. */
export const messageRules = {
  invalid_template: {
    cause:
      'The Liquid of the text cannot be read, or uses something that does not exist. `line` and `column` say where.',
    mend: 'Mend the place that is named. `GET /v1/email-messages/template-variables` lists what can be used.',
    detail: 'There is no filter `shout` here.',
  },
  template_too_large: {
    cause:
      'The message, or what it becomes, is too large: its Liquid takes more than 3,000 steps (a tag is one, each name in it and each ten of its characters another, as often as its loops run), its tags of HTML stand more than 500 deep in each other, or it makes too much text.',
    mend: 'Shorten the text, or loop over fewer things.',
    detail: 'At most 100 blocks, those in columns included.',
  },
  not_renderable: {
    cause: 'The message cannot be rendered with the values that were sent.',
    mend: 'Send values of the form that `GET /v1/email-messages/template-variables` shows.',
    detail: 'The value cannot be shown.',
  },
  misplaced_liquid: {
    cause: 'Liquid stands inside of a tag of HTML, or a tag of HTML inside of Liquid.',
    mend: 'Close the one before the other begins.',
    detail: 'Liquid tags stand between the tags of HTML, not inside them.',
  },
  invalid_address: {
    cause: 'The link leads to an address that messages may not link to.',
    mend: 'Write an address that begins with http, https, mailto or tel.',
    detail: 'A link may lead to an http, https, mailto or tel address only.',
  },
  too_wide: {
    cause: 'The columns are together wider than the message.',
    mend: 'Make the widths of the columns add up to 100 at most.',
    detail: 'The columns are wider than the message.',
  },
  scope_mismatch: {
    cause: 'A template of the organisation has no edition, and a message of an edition has one.',
    mend: 'Leave `edition_id` out, or send the scope `edition`.',
    detail: 'A template of the organisation has no edition.',
  },
  wrong_type: {
    cause: 'The message was made for another purpose.',
    mend: 'Choose a message of type `campaign`.',
    detail: 'The message is not of type campaign.',
  },
  no_blocks: {
    cause: 'The message is empty.',
    mend: 'Add at least one block to the message.',
    detail: 'The message has no block.',
  },
  missing_subject: {
    cause: 'The message has no subject in the language of the edition.',
    mend: 'Write the subject in the language that `detail` names.',
    detail: 'The message has no subject in da.',
  },
  missing_text: {
    cause: 'The SMS has no text in the language of the edition.',
    mend: 'Write the text in the language that `detail` names.',
    detail: 'There is no text in da.',
  },
} as const satisfies Record<string, FieldGuide>
