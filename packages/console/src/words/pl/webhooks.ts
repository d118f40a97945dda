import type { Words } from '../en'

export const webhooks: Words['webhooks'] = {}
