export const consents = {}
