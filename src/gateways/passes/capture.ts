import { UnsecuredJWT } from 'jose'
import type { CallbackSender, RootKey } from '../../domain/wallet/google-callback.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'
import type { WalletPlatform } from '../../domain/wallet/wallet.ts'
import type { CapturedMessage, CaptureStore } from '../capture/capture.ts'
import type { AppleIdentity } from './apple-fields.ts'
import { buildApplePackage } from './apple-package.ts'
import { googleSenderNames } from './google-keys.ts'
import {
  buildGoogleClass,
  type GoogleIdentity,
  buildGoogleObject,
  buildGoogleUpdate,
  buildSaveClaims,
  buildSaveUrl,
} from './google-object.ts'
import type { PassesGateway } from './passes.ts'

export interface CapturedKeys {
  /** The root keys that a developer or a test has set. */
  keys: () => Promise<readonly RootKey[]>
}

interface CaptureParts {
  store: CaptureStore
  keys: CapturedKeys
  apple: AppleIdentity
  google: GoogleIdentity
}

const buildMessage = (reference: string, to: WalletPlatform, subject: string, body: unknown): CapturedMessage => ({
  channel: 'wallet',
  reference,
  from: 'wallet',
  to,
  replyTo: null,
  subject,
  html: '',
  body: JSON.stringify(body, null, 2),
  headers: {},
})

/** Creates a gateway that stores calls instead of making them. Its passes have no signature, so phones refuse them. */
export function createPassCapture({ store, keys, apple, google }: CaptureParts): PassesGateway {
  const storeMessage = (key: string, message: CapturedMessage) => store.save(key, [message])
  const storeIssued = ({ id, edition_name, product_name }: PassContent, platform: WalletPlatform, body: unknown) =>
    storeMessage(`${id}:issued`, buildMessage(id, platform, `Pass for ${edition_name}: ${product_name}`, body))
  return {
    createAddUrl: async (pass) => {
      if (pass.platform === 'google') {
        const claims = buildSaveClaims(pass.content, google)
        return buildSaveUrl(new UnsecuredJWT(claims).setAudience('google').encode())
      }
      await storeIssued(pass.content, 'apple', pass)
      return pass.download_url
    },
    storeGoogle: async (content, edition) => {
      await storeIssued(content, 'google', {
        eventTicketClasses: [buildGoogleClass(edition, google)],
        eventTicketObjects: [buildGoogleObject(content, google)],
      })
      return { ok: true }
    },
    buildApplePackage: (pass) => buildApplePackage(pass, apple, null),
    loadCallbackSenders: async (): Promise<CallbackSender[]> => {
      const rootKeys = await keys.keys()
      return googleSenderNames.map((name) => ({ name, keys: rootKeys }))
    },
    updateGoogle: async (content, changeNumber) => {
      const update = { object: buildGoogleObject(content, google).id, ...buildGoogleUpdate(content) }
      await storeMessage(
        `${content.id}:${changeNumber}`,
        buildMessage(content.id, 'google', 'Update of a pass', update),
      )
      return { ok: true }
    },
    updateGoogleClass: async (edition, changeNumber) => {
      const { edition_id } = edition
      const message = buildMessage(edition_id, 'google', 'Update of an edition', buildGoogleClass(edition, google))
      await storeMessage(`${edition_id}:${changeNumber}`, message)
      return { ok: true }
    },
    pushApple: async ({ pass_id, change_number, push_token }) => {
      const key = `${pass_id}:${change_number}:${push_token}`
      await storeMessage(key, buildMessage(pass_id, 'apple', 'Push to a phone', { push_token }))
      return 'sent'
    },
  }
}
