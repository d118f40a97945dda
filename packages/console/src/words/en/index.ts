import type { auditLog } from './audit-log'
import type { auth } from './auth'
import type { campaigns } from './campaigns'
import type { catalogue } from './catalogue'
import type { common } from './common'
import type { consents } from './consents'
import type { dataImports } from './data-imports'
import type { development } from './development'
import type { editionSettings } from './edition-settings'
import type { editions } from './editions'
import type { emailMessages } from './email-messages'
import type { files } from './files'
import type { home } from './home'
import type { orders } from './orders'
import type { organizations } from './organizations'
import type { purchases } from './purchases'
import type { refunds } from './refunds'
import type { segments } from './segments'
import type { states } from './states'
import type { system } from './system'
import type { users } from './users'
import type { webhooks } from './webhooks'

/** All texts, by group. Each language has a file for each of them. */
export interface Words {
  auditLog: typeof auditLog
  auth: typeof auth
  campaigns: typeof campaigns
  catalogue: typeof catalogue
  common: typeof common
  consents: typeof consents
  dataImports: typeof dataImports
  development: typeof development
  editionSettings: typeof editionSettings
  editions: typeof editions
  emailMessages: typeof emailMessages
  files: typeof files
  home: typeof home
  orders: typeof orders
  organizations: typeof organizations
  purchases: typeof purchases
  refunds: typeof refunds
  segments: typeof segments
  states: typeof states
  system: typeof system
  users: typeof users
  webhooks: typeof webhooks
}
