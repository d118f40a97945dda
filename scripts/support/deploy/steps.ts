import { readText } from '../../../src/domain/settings/settings.ts'
import { consoleProgram, wranglerProgram } from '../paths.ts'
import { startNode } from '../processes.ts'
import { attachHost, isAtWorkersDev } from './address.ts'
import { writeConfiguration } from './configuration.ts'
import { isFirstTime, type Plan } from './plan.ts'
import type { Platform } from './platform.ts'
import { type Secrets, withUploadFile } from './secrets.ts'
import { listPendingMigrations } from './survey.ts'

export interface Run {
  platform: Platform
  plan: Plan
  secrets: Secrets
  signal: AbortSignal
}

const say = (text: string): void => console.log(text)

const listSecretTexts = (secrets: Secrets): string[] => Object.values(secrets).filter((text) => text.length > 3)

/** Replaces secrets in the output of another program. */
const hideSecrets = (output: string, secrets: Secrets): string =>
  listSecretTexts(secrets).reduce((text, secret) => text.replaceAll(secret, '***'), output)

async function runProgram({ secrets, signal, plan }: Run, args: readonly string[], failure: string): Promise<void> {
  const env = {
    CLOUDFLARE_ACCOUNT_ID: plan.account.id,
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  }
  const { code, output } = await startNode(args, { env, signal }).ended
  if (code !== 0) throw new Error(`${hideSecrets(output, secrets).trim()}\n\n${failure}`)
}

/** Creates what is missing, and returns the id of the database. */
export async function createResources({ platform, plan }: Run): Promise<string> {
  const { account, installation, survey, address } = plan
  const path = `/accounts/${account.id}`
  let { databaseId } = survey
  if (!databaseId) {
    say(`Creating the database ${installation.databaseName} …`)
    const { uuid } = await platform.call<{ uuid: string }>('POST', `${path}/d1/database`, {
      name: installation.databaseName,
    })
    databaseId = uuid
  }
  if (!survey.hasBucket) {
    say(`Creating the bucket ${installation.bucketName} …`)
    await platform.call('POST', `${path}/r2/buckets`, { name: installation.bucketName })
  }
  for (const name of survey.missingQueues) {
    say(`Creating the queue ${name} …`)
    await platform.call('POST', `${path}/queues`, { queue_name: name })
  }
  if (address.newSubdomain) {
    say(`Registering ${address.newSubdomain}.workers.dev …`)
    await platform.call('PUT', `${path}/workers/subdomain`, { subdomain: address.newSubdomain })
  }
  return databaseId
}

export const repeatAdvice = 'What was made before stays. Correct what is named above, and run the command again.'

async function migrate(run: Run): Promise<void> {
  const { installation, survey } = run.plan
  const pending = listPendingMigrations(survey)
  if (pending.length === 0) return
  say('Migrating the database …')
  await runProgram(
    run,
    [wranglerProgram, 'd1', 'migrations', 'apply', 'DB', '--remote', '--config', installation.configFile],
    `The database ${installation.databaseName} was not migrated to the end. Each migration was applied as a whole or not at all. ${repeatAdvice}`,
  )
}

async function upload(run: Run): Promise<void> {
  const { installation, secrets: plan } = run.plan
  say(`Uploading the Worker ${installation.workerName} …`)
  const args = [wranglerProgram, 'deploy', '--config', installation.configFile]
  const failure = `The Worker ${installation.workerName} was not deployed to the end. ${repeatAdvice}`
  if (plan.missingNames.length === 0) return runProgram(run, args, failure)
  const missing = Object.fromEntries(plan.missingNames.map((name) => [name, run.secrets[name] ?? '']))
  // The first version comes with its secrets, so that the service never runs without them.
  await withUploadFile(installation, missing, (path) => runProgram(run, [...args, '--secrets-file', path], failure))
}

/** Makes what the plan says. Each step leaves what an earlier run made. */
export async function carryOut(run: Run): Promise<void> {
  const { plan, platform } = run
  const { installation, variables, survey, account, publicUrl } = plan
  const databaseId = await createResources(run)
  await writeConfiguration(installation, {
    accountId: account.id,
    databaseId,
    variables,
    isOnWorkersDev: [publicUrl, readText(variables, 'FILES_URL')].some(isAtWorkersDev) || survey.isOnWorkersDev,
  })
  say('Building the console …')
  await runProgram(run, [consoleProgram, '--if-changed'], `The console was not built. ${repeatAdvice}`)
  for (const step of isFirstTime(plan) ? [upload, migrate] : [migrate, upload]) await step(run)
  for (const host of plan.address.newHosts) {
    say(`Attaching ${host} …`)
    await attachHost(platform, account.id, installation, host)
  }
}
