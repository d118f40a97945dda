import type { Words } from '../en'

export const campaigns: Words['campaigns'] = {}
