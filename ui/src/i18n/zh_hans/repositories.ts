// Owns the Chinese sentences of the feature repositories. Its keys are those of the English file.
import type { repositories as english } from '../en/repositories'

export const repositories: Record<keyof typeof english, string> = {
  'repositories.title': '仓库',
  'repositories.pick': '选择一个 git 仓库的文件夹',
}
