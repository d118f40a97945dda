import { parseArgs } from 'node:util'
import { readText } from '../src/domain/settings/settings.ts'
import { version } from '../src/domain/version.ts'
import { choosePublicUrl, planAddress } from './support/deploy/address.ts'
import { describeInstallation, firstEnvironment, type Installation } from './support/deploy/configuration.ts'
import { describePlan, type Plan } from './support/deploy/plan.ts'
import {
  chooseAccount,
  createPlatform,
  explainFailure,
  loadCredentials,
  type Platform,
} from './support/deploy/platform.ts'
import { createQuestions, type Questions } from './support/deploy/questions.ts'
import { planSecrets, readSecrets, type Secrets, storeSecrets } from './support/deploy/secrets.ts'
import { addFirstOrganization, makeSignInLink, waitForHealth } from './support/deploy/service.ts'
import { carryOut, repeatAdvice } from './support/deploy/steps.ts'
import { type Survey, surveyInstallation } from './support/deploy/survey.ts'
import { joinVariables, parseAssignments, readFileVariables, type Variables } from './support/deploy/variables.ts'
import { lockFolder } from './support/folder-lock.ts'
import { refuseNpmOptions } from './support/npm-options.ts'
import { checkDeploySettings } from './support/settings.ts'

const usage = `npm run deploy -- [options]

  --env NAME            another installation beside the first, such as staging
  --dry-run             say what would be created and changed, and end
  --yes                 do not ask for a confirmation
  --set NAME=VALUE      a variable of the service, such as PUBLIC_URL=https://events.example.com
  --organization NAME   the first organisation, where there is none yet
  --admin-name NAME     the name of its admin
  --admin-email EMAIL   the e-mail address of its admin
  --wait SECONDS        how long to wait for the service (default 300)
  --sign-in-link EMAIL  only make a link to sign in for a member

EMAIL_API_KEY of the environment is the key of Resend, and DEPLOY_FOLDER another folder than .deploy. docs/deploying.md explains the rest.`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  env: { ...text, default: firstEnvironment },
  'dry-run': flag,
  yes: flag,
  help: flag,
  set: { ...text, multiple: true, default: [] as string[] },
  organization: text,
  'admin-name': text,
  'admin-email': text,
  wait: { ...text, default: '300' },
  'sign-in-link': text,
} as const

function readOptions() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`, { cause: error })
  }
}

/** Adds the key of the e-mail provider, when the caller gives one. */
async function addEmailKey(
  { variables, survey, secrets }: { variables: Variables; survey: Survey; secrets: Secrets },
  questions: Questions,
): Promise<Secrets> {
  const provider = readText(variables, 'EMAIL_PROVIDER')
  const keyOfCaller = process.env['EMAIL_API_KEY']
  const isUploaded = survey.secretNames.includes('EMAIL_API_KEY')
  if (isUploaded || (provider !== '' && provider !== 'resend')) {
    if (keyOfCaller && keyOfCaller !== secrets['EMAIL_API_KEY'])
      console.log(
        `EMAIL_API_KEY of the environment is not used: ${isUploaded ? 'the Worker has a key, and docs/secrets.md says how it is replaced' : `EMAIL_PROVIDER is "${provider}"`}.\n`,
      )
    return secrets
  }
  const isAsked = questions.canAsk && !values.yes
  // The file has the key after a break. EMAIL_PROVIDER is set with it, or the service would send nothing.
  const key =
    keyOfCaller ||
    secrets['EMAIL_API_KEY'] ||
    (isAsked ? await questions.askSecret('The key of Resend, which sends the e-mails (empty: later)') : '')
  if (!key) return secrets
  variables['EMAIL_PROVIDER'] = 'resend'
  if (isAsked && !readText(variables, 'EMAIL_FROM'))
    variables['EMAIL_FROM'] = await questions.ask('Sender of e-mails, such as Events <no-reply@example.com>')
  return { ...secrets, EMAIL_API_KEY: key }
}

/** Reads what exists, asks what is unknown, and checks all settings. It changes nothing. */
async function preparePlan(
  platform: Platform,
  installation: Installation,
  questions: Questions,
): Promise<{ plan: Plan; secrets: Secrets }> {
  const { file } = installation
  const account = await chooseAccount(platform, file.account_id)
  const survey = await surveyInstallation(platform, account.id, installation)
  const fileVariables = readFileVariables(installation)
  const variables = joinVariables(fileVariables, survey.variables, parseAssignments(values.set))
  const publicUrl = await choosePublicUrl(installation, variables, survey, questions)
  variables['PUBLIC_URL'] = publicUrl
  const secrets = await addEmailKey({ variables, survey, secrets: await readSecrets(installation) }, questions)
  const secretsPlan = planSecrets(survey.secretNames, secrets)
  const limiter = file.ratelimits.find(({ name }) => name === 'RATE_LIMITER')
  checkDeploySettings({
    variables,
    secrets: [...survey.secretNames, ...secretsPlan.missingNames],
    secretTexts: Object.fromEntries(
      secretsPlan.missingNames.flatMap((name) => (secrets[name] ? [[name, secrets[name]]] : [])),
    ),
    hasEmailBinding: (file.send_email ?? []).some(({ name }) => name === 'EMAIL'),
    ...(limiter ? { tokenLimit: limiter.simple.limit } : {}),
  })
  const address = await planAddress(platform, account.id, installation, { variables, survey })
  const plan = { account, installation, survey, variables, fileVariables, secrets: secretsPlan, address, publicUrl }
  return { plan, secrets }
}

async function deploy(installation: Installation): Promise<void> {
  const patienceSeconds = Number(values.wait)
  if (!(patienceSeconds >= 0)) throw new Error(`--wait ${values.wait} is no number of seconds.`)
  const questions = createQuestions(undefined, quit.signal)
  const platform = createPlatform(await loadCredentials(), quit.signal)
  const { plan, secrets } = await preparePlan(platform, installation, questions).catch((error: unknown) => {
    throw explainFailure(error, 'Nothing was changed.')
  })
  console.log(describePlan(plan))
  if (values['dry-run']) return console.log('\nThis was a dry run. Nothing was changed.')
  if (questions.canAsk && !values.yes && !(await questions.confirm('\nGo on?')))
    return console.log('Nothing was changed.')
  console.log('')
  const uploads = await storeSecrets(installation, secrets, plan.secrets.newNames)
  await carryOut({ platform, plan, secrets: uploads, signal: quit.signal }).catch((error: unknown) => {
    throw explainFailure(error, repeatAdvice)
  })
  await waitForHealth(plan.publicUrl, version, patienceSeconds * 1000, quit.signal)
  const firstAdmin = {
    organization: values.organization,
    adminName: values['admin-name'],
    adminEmail: values['admin-email'],
  }
  await addFirstOrganization(installation, plan.publicUrl, firstAdmin, questions)
  if (readText(plan.variables, 'OUTGOING') === 'hold')
    console.log('Everything that goes out is held (OUTGOING=hold). docs/holding.md says how it is released.')
  console.log(`${plan.publicUrl} is deployed. The console is at ${plan.publicUrl}/console`)
  const environment = installation.environment === firstEnvironment ? '' : ` --env ${installation.environment}`
  console.log(`A link to sign in: npm run deploy --${environment} --sign-in-link EMAIL`)
}

async function main(): Promise<void> {
  if (values.help) return console.log(usage)
  refuseNpmOptions(
    'deploy',
    Object.keys(options).filter((name) => name !== 'yes' && name !== 'help'),
  )
  const installation = describeInstallation(values.env)
  if (values['sign-in-link']) return makeSignInLink(installation, values['sign-in-link'])
  if (values['dry-run']) return deploy(installation)
  const advice = 'Wait until that one has ended, and run the command again.'
  const unlock = lockFolder(installation.folder, { name: 'run of this command', advice })
  try {
    await deploy(installation)
  } finally {
    unlock()
  }
}

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    // Without a program to stop, nothing else would end the process.
    quit.abort()
    console.error('Interrupted. What was made stays. Run the command again to go on.')
    setTimeout(() => process.exit(130), 6000).unref()
  })

let values: ReturnType<typeof readOptions>
try {
  values = readOptions()
  await main()
} catch (error) {
  if (!quit.signal.aborted) console.error(error instanceof Error ? error.message : error)
  process.exitCode = quit.signal.aborted ? 130 : 1
}
