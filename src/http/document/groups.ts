import type { tags } from '../operations/operation.ts'

/** The requests that endpoints of webhooks receive, by the kind of event. */
export const eventGroups: Readonly<Record<string, string>> = {
  'Consent events': 'Somebody gave, skipped or withdrew a consent, or one has come to its end.',
  'Purchase events': `One purchase has changed its state, or something was done about its refund; \`action\` says what.`,
  'Wallet events': 'A pass was added to the wallet of a phone, or taken out of it.',
}

/** The title and the description of each group. */
export const groups: Readonly<Record<(typeof tags)[number], string>> = {
  Auth: `Who calls, and the access tokens they call with. A token has the scopes \`read\`, \`write\` or both, is shown once
when it is made, and does nothing that its member may not do. A token for another member works in one organisation only.`,
  Organizations: `The tenants: an organisation runs events and has members, each with a role in the whole organisation or
in one of its editions. Sender domains are the domains that its e-mails may come from, once DNS shows that they are its own.
Nothing of one organisation is shown to another.`,
  Editions: `One run of an event, as in "Summer festival 2026": its dates, time zone, languages and taxes. An edition begins
as a draft; the health check says what is still missing before it can be published. An archived edition is only read.`,
  Orders: `What a customer has bought in one edition, with its cart and transactions. Orders are read here; they are made by
the sales channels and by imports. Amounts are numbers in major units of the order's currency.`,
  Purchases: `One unit of what an order holds, such as a single ticket, with its own state: it is activated, used, refunded
or cancelled on its own. A wallet pass shows it on a phone.`,
  User: `Customers: the people that orders belong to. An organisation sees the people who bought from it. A role of an
edition changes only those whom no other edition knows. An admin of the organisation can export all that is stored of a
person, and erase the person while the orders and sums stay.`,
  Refunds: `Requests to pay back a purchase, an order or its payment. The amount is reserved when it is asked for, so that
nothing is paid back twice; somebody approves or rejects the request, and then the provider that took the payment pays it
back in the background, or a person by hand. A purchase is cancelled when its refund completes, and only where that was
asked for. A success that a provider takes back later makes the request \`failed\`, and everything is as it was.`,
  Files: `Images that editions show, tables that are imported, and other files of an organisation or of one of its
editions. Large tables come in parts: an upload says which of its parts are there.`,
  'Data Imports': `Orders of another system, up to a hundred a call. Each order is taken whole or not at all, and the same
\`external_id\` never makes a second order, so a call can be repeated.`,
  Campaigns: `One message to the people of a segment, by e-mail or SMS, now or at a time. A campaign goes from \`draft\`,
perhaps by \`scheduled\`, through \`calculating\` and \`sending\` to \`sent\`, \`failed\` or \`cancelled\`. Nobody gets one
campaign twice; the list of recipients says who got it and why others did not.`,
  Consents: `What customers are asked to agree to, and what each of them answered. A change of the wording makes a version;
answers are records that are only ever added, each with a hash of itself and of the one before.`,
  'Email Messages': `Messages made of blocks, in several languages, with Liquid for what differs from one recipient to
another. Messages of the platform are templates: an edition adopts one and changes its own copy. A preview shows the mail
as it would go out, with the places where its text is wrong.`,
  Segments: `The people for whom a condition in the Common Expression Language holds, and whom the channel may reach. A
segment is calculated when it is asked for; \`calculated_at\` and \`is_stale\` say how old its members are.`,
  Webhooks: `Addresses that get events by signed requests, as in the Standard Webhooks specification. A delivery
that fails is tried again for days; the same event always carries the same \`webhook-id\`. The events themselves stand
under their kinds.`,
  'Audit Log': `Who changed what in an organisation, written in the same transaction as the change. Entries are kept for
400 days, unless the deployment has another time.`,
}
