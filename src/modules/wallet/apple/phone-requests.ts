import { retryLostRaces } from '../../../db/commit.ts'
import type { JobCtx } from '../../../context.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { authenticatedPass, checkDevice, checkPassType, packageOf, type RegisteredPass } from './apple-service.ts'
import { registerPhone } from './register.ts'
import { unregisterPhone } from './unregister.ts'

/** The values in the path and the headers of a phone's request. */
export interface PhoneRequest {
  passType: string
  serial: string
  authorization: string | undefined
}

const pushTokenForm = /^[\w+/=.:-]{1,255}$/

/** The push token in a body: `{"pushToken": "…"}`. */
function pushTokenOf(body: Readonly<Record<string, unknown>>): string {
  const given = body['pushToken']
  if (typeof given === 'string' && pushTokenForm.test(given)) return given
  throw invalid(fieldError(['pushToken'], 'invalid', 'The push token of the phone.'))
}

/** Registers a phone for a pass; true for a phone that was not registered. */
export async function takeRegistration(
  job: JobCtx,
  request: PhoneRequest & { device: string },
  readBody: () => Promise<Record<string, unknown>>,
): Promise<boolean> {
  checkPassType(job, request.passType)
  const device = checkDevice(request.device)
  const authenticate = async () => (await authenticatedPass(job, { ...request, device })).pass
  let known: RegisteredPass | null = await authenticate()
  const push_token = pushTokenOf(await readBody())
  return retryLostRaces(async () => {
    const pass = known ?? (await authenticate())
    known = null
    return registerPhone(job, pass, { device, push_token })
  })
}

export async function endRegistration(job: JobCtx, request: PhoneRequest & { device: string }): Promise<void> {
  checkPassType(job, request.passType)
  const device = checkDevice(request.device)
  await retryLostRaces(async () => {
    const { pass } = await authenticatedPass(job, { ...request, device })
    await unregisterPhone(job, pass, device)
  })
}

const wholeSeconds = (at: number): number => Math.floor(at / 1000) * 1000

/** The latest package of a pass with its time; null where the phone has it. */
export async function latestPackage(
  job: JobCtx,
  request: PhoneRequest & { modifiedSince: string | undefined },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; modified: string } | null> {
  checkPassType(job, request.passType)
  const { pass, token } = await authenticatedPass(job, request)
  const known = Date.parse(request.modifiedSince ?? '')
  if (known >= wholeSeconds(pass.changed_at)) return null
  return { bytes: await packageOf(job, pass, token), modified: new Date(pass.changed_at).toUTCString() }
}
