import type { tags } from '../operations/operation.ts'

/** Groups of webhook events in the document. */
export const eventGroups: Readonly<Record<string, string>> = {
  'Consent events': 'A consent was given, skipped or withdrawn, or it has expired.',
  'Order events': 'An import has created, changed or cancelled an order, or was undone.',
  'Refund events': 'A refund was paid or has failed. `purchase.action` announces every step.',
  'Import events': 'An import has ended, with or without errors. Its counts say what became of the orders.',
  'Campaign events': 'A campaign was sent. Its counts say how many recipients it reached.',
  'Message events': 'A message could not be delivered, or its recipient has complained about it.',
  'User events': 'Fields of a customer have changed. Only their names are announced.',
  'Webhook events': 'This service has switched an endpoint off that failed for days or is gone.',
  'Purchase events': 'The state of a purchase has changed, or its refund has progressed. `action` says what happened.',
  'Wallet events': 'A pass was added to the wallet of a phone, or removed from it.',
}

/** Groups of operations in the document. */
export const groups: Readonly<Record<(typeof tags)[number], string>> = {
  Auth: `Signing in, access tokens, and who you are. A token has the scopes \`read\`, \`write\` or both, and can do what its member
can do. You see a token only once, when you create it. A token for another member works in one organisation only.`,
  Organizations: `Organisations run events. Their members have a role in the whole organisation or in one of its
editions. Sender domains are the domains that an organisation sends e-mails from, after it has proved by DNS that it
owns them. No organisation sees anything of another one.`,
  Editions: `An edition is one occurrence of an event, such as "Summer festival 2026", with its dates, time zone,
languages and taxes. It begins as a draft. The health check lists what you must fix before you can publish it. An
archived edition is read-only.`,
  Catalogue: `What an edition sells and where it is picked up: products with their variants and options, categories,
locations and the designs of wallet passes. Each belongs to one edition. Imports find a product by its name or one of
its aliases. Fee rules belong to the organisation; an edition names one in \`fee_rule_id\`.`,
  Orders: `What a customer has bought in an edition, with its cart and transactions. You can read orders here. Sales
channels and imports create them. Amounts are numbers in major units of the currency of the order.`,
  Purchases: `One unit of an order, such as a single ticket. Each purchase is activated, used, refunded or cancelled on
its own. A wallet pass shows it on a phone.`,
  User: `Customers, to whom orders belong. An organisation sees the people who bought from it. With a role in an edition
you can change only customers who are in no other edition. As an admin of the organisation you can export everything
that is stored about a person, and erase the person. Orders and totals stay.`,
  Refunds: `Requests to pay back a purchase, an order or a payment. A request reserves its amount, so that nothing is
paid back twice. After you approve it, the provider of the payment pays the money back in the background, or you pay
it by hand. A purchase is cancelled when its refund completes, if you requested that. If the provider reports a
failure after a success, the request becomes \`failed\` and its effects are undone.`,
  Files: `Images that editions show, tables to import, and other files of an organisation or an edition. You can upload
large tables in parts.`,
  'Data Imports': `Orders from another system: up to a hundred in one request, or a file. An order is imported
completely or not at all. The same \`external_id\` never creates a second order, so you can repeat a request.`,
  Campaigns: `A message by e-mail or SMS to the people of a segment, at once or at a scheduled time. A campaign goes
from \`draft\`, or \`scheduled\`, through \`calculating\` and \`sending\` to \`sent\`, \`failed\` or \`cancelled\`. It
sends to nobody twice. The list of recipients says who got the message, and why others did not.`,
  Consents: `What customers are asked to agree to, and what they answered. Changing the wording creates a new version.
Answers are only ever added, each with a hash of itself and of the answer before it.`,
  'Email Messages': `E-mails made of blocks, in several languages, with Liquid for values of the recipient. Messages of
the platform are templates: an edition adopts one and changes its copy. A preview shows the e-mail as it would be
sent, and what is wrong with its texts.`,
  Segments: `The people who match an expression in the Common Expression Language and can be contacted on the channel. A
segment is calculated when you request it. \`calculated_at\` and \`is_stale\` say how old its members are.`,
  Webhooks: `Endpoints to which events are sent as signed requests, following the Standard Webhooks specification. A
failed delivery is retried for days, always with the same \`webhook-id\`. The events are documented in their own
groups.`,
  'Audit Log': `Who changed what in an organisation. Each entry is written in the transaction of its change, and deleted
after 400 days unless the deployment sets another time.`,
  System: `The state of this deployment, for whoever operates it: work that waits, jobs of each minute, messages that
failed, and services that do not answer. Only the superuser can call these operations.`,
}
