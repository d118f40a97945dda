import { UnsecuredJWT } from 'jose'
import type { CallbackSender, RootKey } from '../../domain/wallet/google-callback.ts'
import type { CapturedMessage, CaptureStore } from '../capture/capture.ts'
import type { AppleIdentity } from './apple-fields.ts'
import { buildApplePackage } from './apple-package.ts'
import {
  buildGoogleClass,
  type GoogleIdentity,
  buildGoogleObject,
  buildGoogleUpdate,
  buildSaveUrl,
} from './google-object.ts'
import { googleSenderNames } from './google-keys.ts'
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

const buildMessage = (passId: string, to: string, subject: string, body: unknown): CapturedMessage => ({
  channel: 'wallet',
  reference: passId,
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
  return {
    createAddUrl: async (pass) => {
      const { content } = pass
      const name = `${content.edition_name}: ${content.product_name}`
      if (pass.platform === 'apple') {
        await storeMessage(`${content.id}:issued`, buildMessage(content.id, 'apple', `Pass for ${name}`, pass))
        return pass.download_url
      }
      const payload = {
        eventTicketClasses: [buildGoogleClass(content, google)],
        eventTicketObjects: [buildGoogleObject(content, google)],
      }
      await storeMessage(`${content.id}:issued`, buildMessage(content.id, 'google', `Pass for ${name}`, payload))
      return buildSaveUrl(new UnsecuredJWT({ typ: 'savetowallet', payload }).setAudience('google').encode())
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
    pushApple: async ({ pass_id, change_number, push_token }) => {
      const key = `${pass_id}:${change_number}:${push_token}`
      await storeMessage(key, buildMessage(pass_id, 'apple', 'Push to a phone', { push_token }))
      return 'sent'
    },
  }
}
