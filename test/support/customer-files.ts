import { sql } from 'drizzle-orm'
import { listStoredAnswers, listStoredSuppressions } from './seeding/imported-users.ts'
import { db } from './seeding/rows.ts'
import type { Shop } from './seeding/sales/orders.ts'

export const listPeople = (shop: Shop) =>
  db.all(
    sql<{ email: string; name: string; metadata: string; messages: number }>`select email,
      trim(first_name || ' ' || last_name) as name, metadata,
      (select count(*) from transactional_emails where user_id = users.id) as messages
      from users where organization_id = ${shop.organization_id} order by email`,
  )

export const listAnswers = async (shop: Shop, email: string) =>
  (await listStoredAnswers(shop.organization_id, email)).map(
    ({ status, occurred_at }) => `${status} ${new Date(occurred_at).toISOString().slice(0, 16)}`,
  )

export const listSuppressions = async (shop: Shop) =>
  (await listStoredSuppressions(shop.organization_id)).map(
    ({ address, reason, created_at }) => `${address} ${reason} ${new Date(created_at).toISOString().slice(0, 10)}`,
  )

const mailchimp =
  'MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS'

const buildMailchimpRow = (person: string, left: string, time: string, id: number) =>
  `${person},2,"",,${time},203.0.113.7,55.1,9.1,1,2,Europe/Copenhagen,dk,84,"2025-01-01 10:00:00",${left}${id},e${id},,"""Gold"""`

/** The three files of an audience of Mailchimp, by who is in them. */
export const mailchimpFiles = {
  subscribed: [
    `Email Address,First Name,Last Name,${mailchimp}`,
    buildMailchimpRow('a@example.dk,Ane,Lund', '', '"2024-01-02 10:00:00"', 1),
    buildMailchimpRow('b@example.dk,,', '', '"2024-01-03 10:00:00"', 2),
  ],
  unsubscribed: [
    `Email Address,First Name,Last Name,${mailchimp.replace('LEID', 'UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON,LEID')}`,
    buildMailchimpRow(
      'c@example.dk,Cai,Holm',
      '"2024-06-01 08:00:00",Spring,"No longer interested",',
      '"2024-01-04 10:00:00"',
      3,
    ),
  ],
  cleaned: [
    `Email Address,First Name,Last Name,${mailchimp.replace('LEID', 'CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,LEID')}`,
    buildMailchimpRow('d@example.dk,Dan,Berg', '"2024-07-01 08:00:00",Summer,', '"2024-01-05 10:00:00"', 4),
  ],
}
