/** Save a text as a file of the person. */
export function saveFile(parts: string[], fileName: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  URL.revokeObjectURL(url)
}
