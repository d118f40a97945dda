import type { AddressPlan } from './address.ts'
import type { Installation } from './configuration.ts'
import type { Account } from './platform.ts'
import { getSecretsPath, type SecretsPlan } from './secrets.ts'
import { listLaterMigrations, listPendingMigrations, type Survey } from './survey.ts'
import type { Variables } from './variables.ts'

export interface Plan {
  account: Account
  installation: Installation
  survey: Survey
  variables: Variables
  fileVariables: Variables
  secrets: SecretsPlan
  address: AddressPlan
  publicUrl: string
}

const countMigrations = (count: number): string => `${count} ${count === 1 ? 'migration' : 'migrations'}`

const describeList = (names: readonly string[]): string => names.join(', ')

/** True if the Worker is uploaded before the database is migrated, which is so until both have been made. */
export const isFirstTime = ({ survey }: Plan): boolean => !survey.hasWorker || survey.appliedMigrations.length === 0

function describeVariables({ survey, variables, fileVariables }: Plan): string[] {
  const changes = [...new Set([...Object.keys(variables), ...Object.keys(survey.variables)])].flatMap((name) => {
    const [before = '', after = ''] = [survey.variables[name], variables[name]]
    if (before === after) return []
    return [survey.hasWorker && before !== '' ? `${name}: "${before}" becomes "${after}"` : `${name} = "${after}"`]
  })
  const stay = Object.keys(variables).filter(
    (name) => variables[name] && !fileVariables[name] && variables[name] === survey.variables[name],
  )
  return [...changes, ...stay.map((name) => `${name} stays "${variables[name]}", as it is deployed`)]
}

function describeSecrets({ secrets, installation }: Plan): string[] {
  const { newNames, missingNames, unknownNames } = secrets
  const path = getSecretsPath(installation)
  const others = missingNames.filter((name) => !newNames.includes(name))
  return [
    ...(newNames.length > 0 ? [`make ${describeList(newNames)}, and store them in ${path}`] : []),
    ...(others.length > 0 ? [`upload ${describeList(others)} of ${path}`] : []),
    ...(unknownNames.length > 0 ? [`leave ${describeList(unknownNames)}, whose values are not in ${path}`] : []),
    ...(missingNames.length + unknownNames.length === 0 ? ['leave all as they are'] : []),
  ]
}

function describeDatabase({ survey, installation }: Plan): string {
  const pending = listPendingMigrations(survey)
  const later = listLaterMigrations(survey)
  const tables = pending.length === 0 ? 'no migrations are due' : `apply ${countMigrations(pending.length)}`
  const back = later.length === 0 ? '' : `, ${describeList(later)} of a later version stay`
  return `${installation.databaseName}: ${survey.databaseId ? 'exists' : 'create'}, ${tables}${back}`
}

function describeBucket({ survey, installation }: Plan): string[] {
  const former = survey.formerBucket
  const loss =
    former === null ? [] : [`The Worker uses ${former}. Its files stay there, and the service no longer finds them`]
  if (!survey.hasBucket) return [`${installation.bucketName}: create`, ...loss]
  const warning = survey.hasWorker
    ? ''
    : '. The service deletes files under objects/ and derived/ that its database does not know'
  return [`${installation.bucketName}: exists${warning}`, ...loss]
}

function describeQueues({ survey, installation }: Plan): string {
  const { missingQueues } = survey
  const rest = installation.queueNames.length - missingQueues.length
  if (missingQueues.length === 0) return `all ${rest} exist`
  return `create ${describeList(missingQueues)}${rest > 0 ? `; ${rest} exist` : ''}`
}

/** Says what a deployment would create and change. */
export function describePlan(plan: Plan): string {
  const { account, installation, survey, address, publicUrl } = plan
  const rows: [string, string[]][] = [
    ['Account', [account.name === account.id ? account.id : `${account.name} (${account.id})`]],
    ['Worker', [`${installation.workerName}: ${survey.hasWorker ? 'upload a new version' : 'create'}`]],
    ['Database', [describeDatabase(plan)]],
    ['Bucket', describeBucket(plan)],
    ['Queues', [describeQueues(plan)]],
    ['Secrets', describeSecrets(plan)],
    ['Variables', describeVariables(plan)],
    [
      'Address',
      [
        publicUrl,
        ...(address.newSubdomain ? [`register ${address.newSubdomain}.workers.dev for the account`] : []),
        ...address.newHosts.map((host) => `attach ${host} to the Worker`),
      ],
    ],
    [
      'Order',
      [
        isFirstTime(plan)
          ? 'upload the Worker, then migrate the database'
          : 'migrate the database, then upload the Worker',
      ],
    ],
  ]
  const width = Math.max(...rows.map(([title]) => title.length)) + 2
  return rows
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) =>
      lines.map((line, index) => `${(index === 0 ? title : '').padEnd(width)}${line}`).join('\n'),
    )
    .join('\n')
}
