/** Values for random expressions. Some occur in the data, and some are difficult. */
export const ids = [
  'prd_one_0',
  'prd_one_1',
  'prd_two_0',
  'var_one_0',
  'loc_one_1',
  'edt_one_1',
  'edt_one_2',
  'cmp_one_0',
  'cmp_one_1',
]
export const words = [
  'a',
  'A',
  '',
  'gir',
  'Ægir',
  "O'Brien",
  '%',
  '_',
  '😀',
  'ÅB',
  'da',
  'sv',
  'gold',
  '5',
  'example.dk',
  '+45',
  'x"y',
  'a\\b',
]
export const statuses = [
  'pending',
  'completed',
  'confirmed',
  'cancelled',
  'active',
  'used',
  'given',
  'withdrawn',
  'DKK',
  'online',
]
export const keys = ['tier', 'level', 'tags', 'a']
export const oddKeys = ['k.dot', 'k"quote', 'k$', 'k\\', 'é', "k'", '0', ' ', 'tier', 'b']
export const textFields = [
  'user.id',
  'user.email',
  'user.phone_number',
  'user.first_name',
  'user.last_name',
  'user.locale',
  'edition.id',
  'consents.newsletter.status',
  'consents["sms-marketing"].status',
]
export const times = [
  'user.date_joined',
  'user.last_seen',
  'stats.first_order_at',
  'stats.last_order_at',
  'edition.start_date',
  'edition.end_date',
  'consents.newsletter.given_at',
  'consents.newsletter.expires_at',
  'consents.photo.expires_at',
]
export const instants = [
  'now',
  'timestamp("2025-01-01T00:00:00Z")',
  'timestamp("2026-05-31T23:30:00.001-02:00")',
  'timestamp("9999-12-31T23:59:59Z")',
]
export const durations = [
  'duration("720h")',
  'duration("-1h30m")',
  'duration("1.5s")',
  'duration("0s")',
  'duration("2000000h")',
]
export const parts = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
]
