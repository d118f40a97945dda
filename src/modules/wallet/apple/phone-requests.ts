import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import { authenticatePass, parseDeviceId, checkPassType, buildPackage, type RegisteredPass } from './apple-service.ts'
import { registerPhone, unregisterPhone } from './registrations.ts'

/** The parameters of a phone's request, from its path and headers. */
export interface PhoneRequest {
  passType: string
  serial: string
  authorization: string | undefined
}

const pushTokenPattern = /^[\w+/=.:-]{1,255}$/

function readPushToken(body: Readonly<Record<string, unknown>>): string {
  const { pushToken } = body
  if (typeof pushToken === 'string' && pushTokenPattern.test(pushToken)) return pushToken
  throw invalid(fieldError(['pushToken'], 'invalid', '`pushToken` is not a valid push token.'))
}

/** Registers a phone for a pass. Returns whether the phone is new. */
export async function handleRegistration(
  job: JobCtx,
  request: PhoneRequest & { device: string },
  readBody: () => Promise<Record<string, unknown>>,
): Promise<boolean> {
  checkPassType(job, request.passType)
  const device = parseDeviceId(request.device)
  const authenticate = async () => (await authenticatePass(job, { ...request, device })).pass
  let firstPass: RegisteredPass | null = await authenticate()
  const push_token = readPushToken(await readBody())
  return retryLostRaces(async () => {
    const pass = firstPass ?? (await authenticate())
    firstPass = null
    return registerPhone(job, pass, { device, push_token })
  })
}

export async function handleUnregistration(job: JobCtx, request: PhoneRequest & { device: string }): Promise<void> {
  checkPassType(job, request.passType)
  const device = parseDeviceId(request.device)
  await retryLostRaces(async () => {
    const { pass } = await authenticatePass(job, { ...request, device })
    await unregisterPhone(job, pass, device)
  })
}

const floorToSeconds = (at: number): number => Math.floor(at / 1000) * 1000

/** Builds the package of a pass. Returns null when the phone already has it. */
export async function loadNewerPackage(
  job: JobCtx,
  request: PhoneRequest & { modifiedSince: string | undefined },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; lastModified: string } | null> {
  checkPassType(job, request.passType)
  const { pass, token } = await authenticatePass(job, request)
  const modifiedSince = Date.parse(request.modifiedSince ?? '')
  if (modifiedSince >= floorToSeconds(pass.changed_at)) return null
  return { bytes: await buildPackage(job, pass, token), lastModified: new Date(pass.changed_at).toUTCString() }
}

const maxLines = 10
const maxLength = 300

/** Phones log addresses and headers, so everything that may be a token is removed. */
const possibleToken = /[\w-]{16,}/g

/** Reads the lines that a phone logs, without possible secrets. Any other body has none. */
export function readPhoneLog(body: string): string[] {
  try {
    const { logs } = readJson(body, isRecord)
    if (!Array.isArray(logs)) return []
    const lines = logs.slice(0, maxLines).filter((line) => typeof line === 'string')
    return lines.map((line) =>
      line
        .slice(0, 4 * maxLength)
        .replaceAll(possibleToken, '…')
        .slice(0, maxLength),
    )
  } catch {
    return []
  }
}
