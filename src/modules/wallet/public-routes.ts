import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { logLine } from '../../http/log.ts'
import { limitPhoneLogs, limitWallet } from '../../http/middleware/rate-limit.ts'
import { parseJson, readBody } from '../../http/requests/body.ts'
import { parseBody } from '../../http/requests/validation.ts'
import { listChangedSerials, parseDeviceId, checkPassType, loadDownload } from './apple/apple-service.ts'
import { readPhoneLog } from './apple/phone-requests.ts'
import {
  handleUnregistration,
  loadNewerPackage,
  type PhoneRequest,
  handleRegistration,
} from './apple/phone-requests.ts'
import { CapturedGoogleKeys } from './contract.ts'
import { setCapturedKeys } from './google-callback.ts'
import { receiveGoogleCallback } from './google-callback.ts'

type WalletJob = Parameters<typeof receiveGoogleCallback>[0]

const maxPhoneBytes = 4096
const maxLogBytes = 65_536
const maxCallbackBytes = 65_536

const passMediaType = 'application/vnd.apple.pkpass'
const registrations = '/wallet/apple/v1/devices/:device/registrations/:passType'
const registration = `${registrations}/:serial` as const

const readPhoneRequest = (c: AppContext): PhoneRequest & { device: string } => ({
  device: c.req.param('device') ?? '',
  passType: c.req.param('passType') ?? '',
  serial: c.req.param('serial') ?? '',
  authorization: c.req.header('authorization'),
})

/** Phones send JSON with any content type. */
const readPhoneJson = async (c: AppContext): Promise<Record<string, unknown>> =>
  parseJson(await readBody(c, maxPhoneBytes), new Headers({ 'content-type': 'application/json' }))

const readText = async (c: AppContext, maxBytes: number): Promise<string> =>
  new TextDecoder().decode(await readBody(c, maxBytes))

const respondPackage = (c: AppContext, bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  c.body(bytes, 200, { 'content-type': passMediaType, ...headers })

/** The web service of Apple's wallet: https://developer.apple.com/documentation/walletpasses */
function mountAppleService(routes: Hono<AppEnv>, open: (c: AppContext) => WalletJob): void {
  routes.post(registration, async (c) => {
    const isNew = await handleRegistration(open(c), readPhoneRequest(c), () => readPhoneJson(c))
    return c.body(null, isNew ? 201 : 200)
  })

  routes.delete(registration, async (c) => {
    await handleUnregistration(open(c), readPhoneRequest(c))
    return c.body(null, 200)
  })

  routes.get(registrations, async (c) => {
    const job = open(c)
    checkPassType(job, c.req.param('passType'))
    const changedSerials = await listChangedSerials(
      job,
      parseDeviceId(c.req.param('device')),
      c.req.query('passesUpdatedSince'),
    )
    return changedSerials ? c.json(changedSerials) : c.body(null, 204)
  })

  routes.get('/wallet/apple/v1/passes/:passType/:serial', async (c) => {
    const request = { ...readPhoneRequest(c), modifiedSince: c.req.header('if-modified-since') }
    const newer = await loadNewerPackage(open(c), request)
    return newer ? respondPackage(c, newer.bytes, { 'last-modified': newer.lastModified }) : c.body(null, 304)
  })

  routes.post('/wallet/apple/v1/log', async (c) => {
    await limitPhoneLogs(c)
    const lines = readPhoneLog(await readText(c, maxLogBytes))
    if (lines.length) logLine({ level: 'warn', request_id: c.var.requestId, wallet_log: lines })
    return c.body(null, 200)
  })
}

/** Routes for phones and wallet platforms, which need no access token. */
export function buildWalletRoutes(open: (c: AppContext) => WalletJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/wallet/*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
    c.header('referrer-policy', 'no-referrer')
    c.header('x-robots-tag', 'noindex')
  })
  routes.use('/wallet/apple/*', limitWallet())

  mountAppleService(routes, open)

  routes.get('/wallet/apple/passes/:token', async (c) => {
    const bytes = await loadDownload(open(c), c.req.param('token'))
    return respondPackage(c, bytes, { 'content-disposition': 'attachment; filename="pass.pkpass"' })
  })

  // This route has no rate limit by address, because Google calls from few addresses. A forged call costs one signature
  // check.
  routes.post('/wallet/google/callback', async (c) => {
    await receiveGoogleCallback(open(c), await readText(c, maxCallbackBytes))
    return c.body(null, 200)
  })

  // In development and tests `capture` verifies callbacks with these keys.
  routes.put('/dev/wallet/google-keys', async (c) => {
    const body = parseJson(await readBody(c), c.req.raw.headers)
    const keys = await setCapturedKeys(open(c), () =>
      parseBody(CapturedGoogleKeys, body).keys.map(({ keyValue, keyExpiration }) => ({
        key_value: keyValue,
        expires_at: Number(keyExpiration),
      })),
    )
    return c.json({ keys: keys.length })
  })

  return routes
}
