export const campaigns = {}
