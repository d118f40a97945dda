export const emailMessages = {}
