import type { Words } from '../en'
import { auditLog } from './audit-log'
import { auth } from './auth'
import { campaigns } from './campaigns'
import { catalogue } from './catalogue'
import { common } from './common'
import { consents } from './consents'
import { dataImports } from './data-imports'
import { development } from './development'
import { editionSettings } from './edition-settings'
import { editions } from './editions'
import { emailMessages } from './email-messages'
import { files } from './files'
import { home } from './home'
import { orders } from './orders'
import { organizations } from './organizations'
import { purchases } from './purchases'
import { refunds } from './refunds'
import { segments } from './segments'
import { states } from './states'
import { system } from './system'
import { users } from './users'
import { webhooks } from './webhooks'

export const sv: Words = {
  auditLog,
  auth,
  campaigns,
  catalogue,
  common,
  consents,
  dataImports,
  development,
  editionSettings,
  editions,
  emailMessages,
  files,
  home,
  orders,
  organizations,
  purchases,
  refunds,
  segments,
  states,
  system,
  users,
  webhooks,
}
